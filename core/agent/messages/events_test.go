package messages

import (
	"strings"
	"testing"
	"time"
)

// The forms that the HTML standard allows in an event stream, from its own rules and the Web Platform Tests
// (eventsource/format-*): each of them is the same answer.
func TestAnAnswerIsReadInEveryFormOfTheStandard(t *testing.T) {
	plain := reply("end_turn", saying("<Done>."))
	each := func(line string) string { return strings.ReplaceAll(plain, "\n\n", "\n\n"+line) }
	for name, stream := range map[string]string{
		"as usual":                                 plain,
		"lines end with CR and LF":                 strings.ReplaceAll(plain, "\n", "\r\n"),
		"lines end with CR":                        strings.ReplaceAll(plain, "\n", "\r"),
		"it begins with a byte order mark":         "\ufeff" + plain,
		"no space follows the colon":               strings.ReplaceAll(plain, ": {", ":{"),
		"comments, one of which looks like data":   each(":\n:data: {\n"),
		"ids, retries and unknown fields":          each("id: 7\nretry: 1000\nfoo: bar\nbaz\n"),
		"a name without data names no later event": each("event: message_stop\n\n"),
		"an event of an empty line of data":        each("data\n\n"),
		"data in several lines":                    strings.ReplaceAll(plain, "data: {", "data: {\ndata:\ndata:  "),
		"no names, as the data has them":           strings.ReplaceAll(plain, "event: ", "x: "),
		"no blank line, and so no end, at its end": strings.TrimSuffix(plain, "\n"),
		"fields of nothing and of no text":         strings.ReplaceAll(plain, `"type":"text_delta"`, `"a":null,"b":[1],"type":"text_delta"`),
	} {
		var a answer
		var text string
		w := &watch{timer: time.NewTimer(time.Hour)}
		err := a.stream(strings.NewReader(stream), w, func(_, said string, _ bool) { text += said })
		if err != nil || text != "<Done>." || a.stop != "end_turn" || len(a.blocks) != 1 {
			t.Fatalf("%s: %q, stopped by %q, %v", name, text, a.stop, err)
		}
		if kept, err := a.blocks[0].json(); string(kept) != `{"text":"<Done>.","type":"text"}` || err != nil {
			t.Errorf("%s: the history gets %s, %v", name, kept, err)
		}
	}
}
