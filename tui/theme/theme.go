// Package theme is how the dashboard looks: colours by role, for dark and
// light backgrounds, and glyphs with ASCII stand-ins. Nothing else in the
// program names a colour. Meaning is never carried by colour alone.
package theme

import (
	"image/color"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text is for.
type Role uint8

// The roles. Text is the terminal's own foreground.
const (
	Text   Role = iota
	Dim         // less important
	Strong      // bold
	Accent      // names, links, the focused pane's title
	Good        // done, up, full
	Warn        // late, low, waiting
	Bad         // failed, error, empty
	Border      // of panes
	Focus       // border of the focused pane
	Key         // a key in the help line
	Select      // the selected row
	Match       // what a search found
	Ping        // a message to the user
	Tool        // a tool call
	Think       // reasoning
	Report      // an update for the main session
	Gauge       // the filled part of a gauge
	Track       // its empty part
	You         // the user's own words
	Caret       // where typing goes: reverse in every theme
	numRoles
)

// Glyph is a symbol with an ASCII stand-in.
type Glyph uint8

// The glyphs. Each means one thing.
const (
	Token    Glyph = iota // ● a token              @
	Running               // ◉ it goes on           *
	HalfDot               // ◐ waiting              o
	Coming                // ○ to come              .
	Stopped               // ■ stopped, cut off     %
	Front                 // » in the conversation  c
	Check                 // ✓ done                 v
	Cross                 // ✗ failed               x
	Bang                  // ! warning              !
	Mute                  // ∅ may not ping         -
	Message               // ◆ a ping               +
	Refused               // ◈ a refused ping       =
	Missed                // ◇ nobody was there     ?
	Flag                  // ⚑ it asks              ?
	Quiet                 // ░ quiet hours          :
	Event                 // ▪ an appointment       e
	Arrow                 // → change               ->
	Down                  // ▼ more below           v
	Up                    // ▲ more above           ^
	Ellipsis              // … cut                  ~
	Chain                 // ∞ a link of a chain    &
	Lock                  // read-only
	Pointer               // ▸ the selected row     >
	Bell                  // critical               !
	HLine                 // ─ inner rule           -
	numGlyphs
)

// Options choose a theme.
type Options struct {
	Dark bool
	// Contrast takes the palette of high contrast.
	Contrast bool
	NoColor  bool // no colours; bold, underline and reverse stay
	ASCII    bool // ASCII borders and glyphs
	Blocks   bool // curves in blocks: the terminal's font has no braille
	Plain    bool // no styling at all, for text files; ASCII is another matter
	// Profile is how many colours the terminal has: 0 none, 16, 256 or 1<<24.
	Profile int
}

// unicodeGlyphs are one cell each in every terminal: none has an emoji form.
var unicodeGlyphs = [numGlyphs]string{
	Token: "●", Running: "◉", HalfDot: "◐", Coming: "○", Stopped: "■", Front: "»", Check: "✓", Cross: "✗", Bang: "!", Mute: "∅",
	Message: "◆", Refused: "◈", Missed: "◇", Flag: "⚑", Quiet: "░", Event: "▪",
	Arrow: "→", Down: "▼", Up: "▲", Ellipsis: "…", Chain: "∞", Lock: "⊘", Pointer: "▸",
	Bell: "‼", HLine: "─",
}

// asciiGlyphs stand in for them; Arrow is the only one of two cells.
var asciiGlyphs = [numGlyphs]string{
	Token: "@", Running: "*", HalfDot: "o", Coming: ".", Stopped: "%", Front: "c", Check: "v", Cross: "x", Bang: "!", Mute: "-",
	Message: "+", Refused: "=", Missed: "?", Flag: "?", Quiet: ":", Event: "e",
	Arrow: "->", Down: "v", Up: "^", Ellipsis: "~", Chain: "&", Lock: "#", Pointer: ">",
	Bell: "!", HLine: "-",
}

var rounded = Borders{
	Horizontal: "─", Vertical: "│",
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	LeftJoin: "├", RightJoin: "┤", TopJoin: "┬", BottomJoin: "┴", Both: "┼",
}

var plainBorders = Borders{
	Horizontal: "-", Vertical: "|",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	LeftJoin: "+", RightJoin: "+", TopJoin: "+", BottomJoin: "+", Both: "+",
}

// Theme paints text by role. It is immutable and may be shared.
type Theme struct {
	options Options
	open    [numRoles]string
	shut    [numRoles]string
	// inside are the ends of other roles as they are inside one that has a
	// background and a foreground: on its background the terminal's own
	// foreground, which they end in, may not be readable.
	inside  [numRoles]*strings.Replacer
	glyphs  *[numGlyphs]string
	borders Borders
}

// Borders are the cells a box is drawn with, one cell each.
type Borders struct {
	Horizontal, Vertical                           string
	TopLeft, TopRight, BottomLeft, BottomRight     string
	LeftJoin, RightJoin, TopJoin, BottomJoin, Both string
}

// New builds a theme. The work is done here: Paint only joins strings.
func New(o Options) *Theme {
	if o.Profile == 0 {
		o.NoColor = true
	}
	t := &Theme{options: o, glyphs: &unicodeGlyphs, borders: rounded}
	if o.ASCII {
		t.glyphs, t.borders = &asciiGlyphs, plainBorders
	}
	if o.Plain {
		return t
	}
	for r := range numRoles {
		t.open[r], t.shut[r] = o.sequences(r)
	}
	for r := range numRoles {
		t.inside[r] = t.insideOf(r)
	}
	return t
}

// insideOf makes the replacements of a role; nil where it needs none.
func (t *Theme) insideOf(r Role) *strings.Replacer {
	fg, bg := t.options.Colours(r)
	if fg == nil || bg == nil {
		return nil
	}
	front := ansi.Style{}.ForegroundColor(fg).String()
	var pairs []string
	for _, end := range t.shut {
		if strings.HasSuffix(end, "39m") { // not one that ends a background too
			pairs = append(pairs, end, end+front)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Options says what the theme was built with.
func (t *Theme) Options() Options { return t.options }

// Paint gives s the colours of the role. What it opens it closes again, and no
// more: a word painted inside a Select row keeps the row's background, and what
// follows it gets the row's foreground back. An empty s stays empty.
func (t *Theme) Paint(r Role, s string) string {
	if r >= numRoles || s == "" || t.open[r] == "" {
		return s
	}
	if t.inside[r] != nil && strings.IndexByte(s, '\x1b') >= 0 {
		s = t.inside[r].Replace(s)
	}
	return t.open[r] + s + t.shut[r]
}

// On is what a role is painted as on a row with a background. Of sixteen colours none
// is one: the row is reversed, and each colour on it would be a patch of paper.
func (t *Theme) On(back, r Role) Role {
	switch {
	case r >= numRoles || back != Select || t.options.Plain || t.options.NoColor || t.options.Profile > 16 || r == Match || r == Caret:
		return r
	case slices.ContainsFunc(styled[r], func(a attribute) bool { return a.on == bold.on }):
		return Strong
	}
	return Text
}

// Glyph is the symbol as this terminal can show it.
func (t *Theme) Glyph(g Glyph) string {
	if g >= numGlyphs {
		return "?"
	}
	return t.glyphs[g]
}

// Box is what borders and rules are drawn with.
func (t *Theme) Box() Borders { return t.borders }

// ASCII reports whether only ASCII may be drawn, for gauges and sparklines.
func (t *Theme) ASCII() bool { return t.options.ASCII }

// sequences are the SGR sequences that begin and end a role.
func (o Options) sequences(r Role) (open, shut string) {
	var on, off ansi.Style
	for _, a := range o.attributes(r) {
		on, off = append(on, a.on), append(off, a.off)
	}
	fg, bg := o.Colours(r)
	if fg != nil {
		on, off = on.ForegroundColor(fg), off.ForegroundColor(nil)
	}
	if bg != nil {
		on, off = on.BackgroundColor(bg), off.BackgroundColor(nil)
	}
	if len(on) == 0 {
		return "", ""
	}
	return on.String(), off.String()
}

// attributes are what a role has beside colours, or in their place.
func (o Options) attributes(r Role) []attribute {
	switch {
	case o.Plain:
		return nil
	case o.NoColor:
		return bare[r]
	case o.Contrast && o.Profile <= 16 && r == Dim: // nothing is faint
		return nil
	case o.Profile <= 16 && few[r] != nil:
		return few[r]
	}
	return styled[r]
}

// Colours are a role's foreground and background as the terminal can show
// them; nil is the terminal's own.
func (o Options) Colours(r Role) (fg, bg color.Color) {
	if o.NoColor || o.Plain || r >= numRoles {
		return nil, nil
	}
	c := palettes[r][o.palette()]
	switch {
	case o.Profile <= 16:
		return c.fg16, c.bg16
	case o.Profile <= 256:
		return c.fg.shown(colorprofile.ANSI256), c.bg.shown(colorprofile.ANSI256)
	}
	return c.fg.shown(colorprofile.TrueColor), c.bg.shown(colorprofile.TrueColor)
}

func (c rgb) shown(p colorprofile.Profile) color.Color {
	if c == 0 {
		return nil
	}
	return p.Convert(c)
}
