package tui

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/action"
)

// What is written on a small screen is seen, and what is free is used.
func TestAStripAndTheTooSmallPageAreUsedAsTheirStoriesSay(t *testing.T) {
	small := setup{w: 30, h: 8}
	lines := func(b *bot) {
		for _, id := range []string{"f1f1f1f1", core.LogTail} {
			b.talk(id, 20)
			b.rings[id].Add(tail.Line{At: day, Kind: tail.Text, Text: "the last line"})
		}
	}
	for _, size := range [][2]int{{40, 10}, {55, 12}, {120, 10}, {200, 11}} {
		tell(t, []story{{fmt.Sprint("what is written on a strip is seen: ", size), setup{w: size[0], h: size[1], snap: busyForks, rings: lines}, `
			~20s 5        => ▸5
			i "hello"     => ▸ hello | and a walk | esc
			esc           => ▸5 | " 1 " | " 2 "
			6 & "lin"     => &lin | the last line
			esc           => ▸6 | " 1 " | " 2 "
			/ "las"       => las | the last line
			esc esc 4     => ▸4
			& "lin"       => &lin | the last line
			esc           => ▸4 | " 1 " | " 2 "`}})
	}
	for _, size := range [][2]int{{41, 40}, {200, 10}, {120, 12}, {44, 30}} {
		tell(t, []story{{fmt.Sprint("below or beside a strip is the focused pane: ", size), sized(size[0], size[1]), `
			2             => ▸2 | " 6  Logs" | ▸ 2 Schedule | Move a little | ╰
			<Move a little> => ▸ 01:13   Move a little
			<Updates>     => ▸ 3 Updates | ▸3`}})
	}
	for i := range action.Panes {
		tell(t, []story{{"a strip says what opens a pane", sized(40, 10), fmt.Sprint(i+1) + ` <z open> => zoomed | !z open`}})
	}
	for _, k := range []string{"q", "ctrl+c"} {
		tell(t, []story{{k + " quits at once where nothing is lost", small, `
			       => the bot keeps running | q quits it
			` + k + ` => quits`}})
		for size, asks := range map[[2]int]string{{30, 8}: "1 fork still running | y quit", {12, 3}: "y quit"} {
			tell(t, []story{{fmt.Sprint(k, " asks in sight before runs are stopped: ", size), setup{w: size[0], h: size[1], snap: busyForks}, `
				y         => stays
				` + k + ` y => stays
				n ` + k + ` => ` + asks + `
				~1s x n y => stays | !y quit
				` + k + ` ~1s y => quits`}})
		}
	}
	tell(t, []story{
		{"a strip is opened and left with the mouse alone", sized(40, 10), `
			<Schedule> => ▸2 | !Move a little
			<Schedule> => Move a little | zoomed
			<zoomed>   => ▸2 | Budget`},
		{"the page that is too small keeps what is written", setup{}, `
			5 i "half a thought" @30x8 "xyz" {\x1b[200~a paste\x1b[201~} {\x1b[<65;15;4M\x1b[<65;15;4M} ~100ms q => stays | Your draft | y quit
			n @120x40 => "▸ half a thought " | !y quit`},
		{"and what was open", setup{snap: dayAhead}, `
			2 n "0 9 * * 1" @30x8 esc esc ctrl+p enter 7 q => stays | y quit
			n @120x40 => A new routine or reminder | "0 9 * * 1 " | !╭─ Actions | did nothing`},
		{"and its place, whatever the wheel does", setup{}, `
			2 ?
			@30x8 {\x1b[<65;15;4M\x1b[<65;15;4M} ~100ms @120x40 => unchanged`},
		{"it interrupts an answer and takes no late interrupt", setup{w: 30, h: 8, change: answering}, `
			ctrl+c => stays | did Interrupt
			(the answer ends) ~1s ctrl+c => stays
			~3s ctrl+c => quits`},
		{"a storm of sizes ends with the right screen", setup{happen: happening{"sizes storm": func(s *stage) {
			dice := testkit.Rand(s.t)
			for range 20 {
				s.resize(1+dice.IntN(200), 1+dice.IntN(60))
				s.press("tab")
			}
		}}}, `(sizes storm) @100x30 4 => ▸ 4 Runs | 1 Ping budget | : command`},
		{"it takes the user's key for quitting", setup{w: 30, h: 8, options: Options{Config: config(t, "keys.yaml", "app.quit: f10\n")}}, `
			  => f10 quits it
			q => stays
			{\x1b[21~} => quits`},
	})
}

func TestTheTooSmallScreenSaysTheNumberAndTheWayOut(t *testing.T) {
	for _, size := range [][2]int{{39, 9}, {20, 5}, {12, 3}, {10, 3}, {8, 3}, {100, 2}, {14, 1}} {
		lines := Frame(still{snap: busyDay(day)}, FrameOptions{Width: size[0], Height: size[1]})
		all := strings.Join(lines, "\n")
		if !strings.HasPrefix(all, "40×10") || !strings.Contains(all, "q quits") {
			t.Errorf("%v says %q", size, all)
		}
	}
}
