package plain

import (
	"fmt"
	"go/ast"
	"go/parser"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
)

// Each file of testdata/stories has several stories. A line with a sign in front is what happens. Behind "=>" or below it are all lines that are
// heard then, and all commands that reach the bot.
//
//	! read-only       plain mode starts; also: piped, notice: ONE ⏎ TWO, clock 12
//	> list            somebody types it, in quotes where blanks at its ends count
//	* Busy: true      the bot changes, as in a literal of the type world; +Chat adds to a list, 0: is an element of one, times are from now
//	- Busy: true      the same, and it is not heard yet
//	@ f1 text: words  a tail has a line more
//	~ 10m             time passes
//	. the input ends  or: the answer comes
//
// 3×(a#) means a1a2a3. Seconds are not compared.
func TestPlainModeDoesWhatItsStoriesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	testkit.Must(t, err)
	for _, name := range files {
		goldentest.Stories(t, strings.TrimPrefix(name, "testdata/"), func(t *testing.T, story string) (got string) {
			synctest.Test(t, func(t *testing.T) {
				n := &teller{t: t, bot: newBot(), dir: t.TempDir()}
				for line := range strings.Lines(story) {
					n.step(strings.TrimSpace(line), line[0])
				}
				if n.stage != nil {
					n.close()
				}
				got = n.out.String()
			})
			return got
		})
	}
}

// teller plays a story and writes down what comes of it.
type teller struct {
	*stage
	t   *testing.T
	bot *bot
	dir string
	out strings.Builder
}

var (
	repeats = regexp.MustCompile(`(\d+)×\(((?:[^()]|\([^()]*\))*)\)`)
	seconds = regexp.MustCompile(`\b(\d\d?:\d\d):\d\d`)
)

// step does what a line says; lines without a sign are what was heard.
func (n *teller) step(line string, sign byte) {
	if !strings.ContainsRune("!>*-@~.#", rune(sign)) {
		return
	}
	line, _, _ = strings.Cut(line, " => ")
	what := repeats.ReplaceAllStringFunc(strings.TrimPrefix(line[1:], " "), func(all string) (out string) {
		parts := repeats.FindStringSubmatch(all)
		times, _ := strconv.Atoi(parts[1])
		for i := range times {
			out += strings.ReplaceAll(parts[2], "#", strconv.Itoa(i+1))
		}
		return out
	})
	if n.stage == nil && strings.ContainsRune(">*@~", rune(sign)) {
		n.start("")
		n.hears()
	}
	switch sign {
	case '!':
		if n.stage != nil {
			n.close()
		}
		n.start(what)
	case '>':
		if typed, err := strconv.Unquote(what); err == nil {
			what = typed
		}
		_, err := io.WriteString(n.in, what+"\n")
		testkit.Must(n.t, err)
	case '*', '-':
		e, err := parser.ParseExpr("T{" + what + "}")
		testkit.Must(n.t, err)
		n.bot.change(func(w *world) { n.set(reflect.ValueOf(w).Elem(), e) })
	case '@':
		head, text, _ := strings.Cut(what, ": ")
		id, kind, _ := strings.Cut(head, " ")
		for part := range strings.SplitSeq(text, "|") {
			n.bot.ring(id).Add(tail.Line{At: time.Now(), Kind: tail.Kind(kind), Text: part})
		}
		n.bot.change(func(*world) {})
	case '~':
		d, err := time.ParseDuration(what)
		testkit.Must(n.t, err)
		time.Sleep(d)
	case '.':
		map[string]func(){"the input ends": func() { _ = n.in.Close() }, "the answer comes": func() { close(n.bot.answers) }}[what]()
	}
	n.tell(line, sign)
}

// start begins plain mode at a terminal.
func (n *teller) start(how string) {
	o := Options{Typed: how != "piped", ReadOnly: how == "read-only", Config: n.dir}
	if text, is := strings.CutPrefix(how, "notice: "); is {
		o.Notice = strings.ReplaceAll(text, " ⏎ ", "\n")
	}
	if how == "clock 12" {
		testkit.Must(n.t, os.WriteFile(filepath.Join(n.dir, "dashboard.yaml"), []byte("clock: 12\n"), 0o600))
	}
	n.stage = open(n.t, n.bot, o)
}

// tell writes a step and what came of it: a little behind it, more below it, and of much its beginning and its end.
func (n *teller) tell(line string, sign byte) {
	var lines []string
	if n.stage != nil && sign != '-' && sign != '#' {
		lines = n.hears()
	}
	for i, l := range lines {
		lines[i] = seconds.ReplaceAllString(l, "$1:..")
	}
	if len(lines) > 20 {
		lines = append(append(lines[:2:2], fmt.Sprintf("… %d lines …", len(lines)-5)), lines[len(lines)-3:]...)
	}
	for _, c := range n.bot.takes() {
		lines = append(lines, "does "+c)
	}
	if n.stage != nil && len(n.ended) > 0 {
		lines = append(lines, "it has ended")
	}
	short := line + " => " + strings.Join(lines, " | ")
	switch {
	case len(lines) == 0:
		short = line
	case len(lines) > 2 || len(short) > 155:
		short = line + "\n  " + strings.Join(lines, "\n  ")
	}
	n.out.WriteString(short + "\n")
}

// set puts a literal into a value: its fields into a struct, its elements into a list.
func (n *teller) set(v reflect.Value, e ast.Expr) {
	list, is := e.(*ast.CompositeLit)
	switch {
	case !is:
		n.word(v, wordOf(e))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		n.set(v.Elem(), e)
	case v.Kind() == reflect.Struct:
		for _, e := range list.Elts {
			field := e.(*ast.KeyValueExpr)
			if more, is := field.Key.(*ast.UnaryExpr); is {
				to := v.FieldByName(wordOf(more.X))
				was := reflect.AppendSlice(reflect.Zero(to.Type()), to)
				n.set(to, field.Value)
				to.Set(reflect.AppendSlice(was, to))
				continue
			}
			n.set(v.FieldByName(wordOf(field.Key)), field.Value)
		}
	default:
		all := reflect.Zero(v.Type())
		for _, e := range list.Elts {
			if changed, is := e.(*ast.KeyValueExpr); is {
				i, err := strconv.Atoi(wordOf(changed.Key))
				testkit.Must(n.t, err)
				all = reflect.AppendSlice(reflect.Zero(v.Type()), v)
				n.set(all.Index(i), changed.Value)
				v.Set(all)
				continue
			}
			one := reflect.New(v.Type().Elem()).Elem()
			n.set(one, e)
			all = reflect.Append(all, one)
		}
		v.Set(all)
	}
}

// wordOf is a name, a number or the text of a literal.
func wordOf(e ast.Expr) string {
	if name, is := e.(*ast.Ident); is {
		return name.Name
	}
	word := e.(*ast.BasicLit).Value
	if text, err := strconv.Unquote(word); err == nil {
		return text
	}
	return word
}

// word puts a word into a value. A time is a span from now, a span the sum of its parts.
func (n *teller) word(v reflect.Value, word string) {
	var span time.Duration
	for part := range strings.FieldsSeq(word) {
		d, _ := time.ParseDuration(part)
		span += d
	}
	number, err := strconv.ParseFloat(word, 64)
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool:
		v.SetBool(word == "true")
	case reflect.Struct:
		v.Set(reflect.ValueOf(time.Now().UTC().Add(span)))
	case reflect.Pointer, reflect.Slice: // nil
		v.SetZero()
	default:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			number, err = float64(span), nil
		}
		testkit.Must(n.t, err)
		v.Set(reflect.ValueOf(number).Convert(v.Type()))
	}
}
