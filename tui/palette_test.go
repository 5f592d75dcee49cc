package tui

import (
	"context"
	"io"
	"testing"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// plainRoot is a dashboard on no terminal, drawn without colours.
func plainRoot(ctx context.Context, snap core.Snapshot) *root {
	r := newRoot(ctx, still{snap: snap, read: fullTail}, Options{Output: io.Discard})
	r.prefs.theme, r.w, r.h = theme.New(theme.Options{Plain: true}), 100, 30
	r.refresh()
	return r
}

func TestThePaletteIsUsedAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"the palette finds an action and runs it in its pane", setup{}, `
			6 ctrl+p => Logs: Find in text | Show all keys
			"undo"   => Undo last change | nothing to undo
			ctrl+u "raise cap" => Raise the capacity
			enter    => ▸ 1 Ping budget | 3.2 / 6`},
		{"it finds an id and a key", setup{}, `
			ctrl+p "view.zo" => Zoom or unzoom pane | in keys.yaml: view.zoom
			ctrl+u "ctrl+l"  => Redraw the screen | view.redraw`},
		{"and a setting by a value that it does not have", setup{}, `ctrl+p "12 hour" => "Clock: " | setting`},
		{"an action that would move nothing is off", sized(80, 24), `2 ctrl+p "wider" => off: panes can be resized only`},
		{"an action is off until it would do something", setup{}, `
			ctrl+p "wider"         => !"off: "
			esc ctrl+p "send what" => off: the message is empty
			esc 5 i "half a thought" esc ctrl+p "send what" => !"off: "`},
		{"it fills a small screen, what is off last", setup{w: 40, h: 10, snap: busyForks}, `
			4 ctrl+p => 4×: Runs: | forks.tail
			up       => "off: "`},
		{"what a line of the command line prints is a page", setup{}, `: "routine list" enter => ╭─ routine list | all that | it prints | did Line Text=routine list`},
		{"what is named by no action runs nothing", setup{}, `
			1 ctrl+p "meto" => no action has that name
			enter           => no action has that name
			esc ctrl+p "runs failed 1 jan 1999" => no run matches`},
	})
}

func TestACommandCanBelongToNoPane(t *testing.T) {
	r := plainRoot(t.Context(), busyDay(day))
	made := false
	cmd := r.act(action.Action{ID: "app.nap", Title: "Take a nap", Make: func(core.Snapshot) command.Value {
		made = true
		return command.MuteUntil{}
	}})
	if !made || cmd == nil {
		t.Errorf("made its command: %v; sent it: %v", made, cmd != nil)
	}
}
