package widget

import "charm.land/bubbles/v2/key"

// Reply is what came of an action: text for the clipboard, and what to say.
type Reply struct{ Copy, Toast string }

// sideways is how many cells a line that is not wrapped moves at a time.
const sideways = 20

// Do carries out an action by its verb, the part of its id behind the dot. It
// reports whether it knows the verb; copying is the pane's.
func (s *Scroll) Do(verb string) (Reply, bool) {
	switch verb {
	case "up":
		s.Up(1)
	case "down":
		s.Down(1)
	case "pgup":
		s.Page(-1)
	case "pgdn":
		s.Page(1)
	case "home", "top":
		s.Home()
	case "follow", "end", "bottom":
		s.Follow()
	case "left", "right":
		if s.Wrap {
			return Reply{Toast: textNoSideways(s.Names)}, true
		}
		by := sideways
		if verb == "left" {
			by = -sideways
		}
		s.Sideways(by)
	case "find":
		s.Find()
	case "next", "prev":
		by := 1
		if verb == "prev" {
			by = -1
		}
		if !s.Hit(by) {
			return Reply{Toast: textNoFind(s.Names)}, true
		}
	case "wrap":
		s.ToggleWrap()
		if s.Wrap {
			return Reply{Toast: textWrapped}, true
		}
		return Reply{Toast: textNotWrapped(s.Names)}, true
	default:
		return Reply{}, false
	}
	return Reply{}, true
}

// Do carries out an action by its verb, copying too.
func (v *TailView) Do(verb string) (Reply, bool) {
	switch verb {
	case "copy-line":
		text, toast := v.Copy()
		return Reply{text, toast}, true
	case "copy-all":
		text, toast := v.CopyAll()
		return Reply{text, toast}, true
	case "filter":
		v.Filter()
		return Reply{}, true
	case "time":
		v.toggleTimes()
		return Reply{}, true
	case "level":
		return Reply{Toast: v.NextLevel()}, true
	}
	return v.Scroll.Do(verb)
}

// Hint is what the keys do while a search or a filter is being written.
func (v *TailView) Hint() []key.Binding {
	if v.filter.typing {
		return filterKeys
	}
	return v.Scroll.Hint()
}

var filterKeys = []key.Binding{
	key.NewBinding(key.WithHelp("enter", textKeepsFilter)),
	key.NewBinding(key.WithHelp("esc", textAllLines)),
	key.NewBinding(key.WithHelp("!", textNotThese)),
}

// Hint is what the keys do while a search is being written.
func (s *Scroll) Hint() []key.Binding { return findKeys }

var findKeys = []key.Binding{
	key.NewBinding(key.WithHelp("enter", textKeeps)),
	key.NewBinding(key.WithHelp("esc", textEnds)),
	key.NewBinding(key.WithHelp("↑/↓", textOtherHits)),
}
