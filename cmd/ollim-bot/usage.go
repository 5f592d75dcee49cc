package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// mistake puts the parser's error into words: which command it is about, what it
// needs, and what was probably meant. The parser's own sentences leave the first out.
func mistake(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return &console.UsageError{Text: clean.Line(err.Error())}
	}
	at, rest := place(parse.Context)
	name := nameOf(at)
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "unexpected argument ") && len(rest) > 0 && len(at.Children) > 0:
		text = unknown(name, rest[0], commandsOf(at))
	case strings.HasPrefix(text, "unexpected argument ") && len(rest) > 0:
		text = fmt.Sprintf(textExtra, name, rest[0])
	case strings.HasPrefix(text, "expected one of "):
		text = fmt.Sprintf(textNeedsCommand, name, orList(commandsOf(at)))
	case strings.HasPrefix(text, "expected "):
		text = fmt.Sprintf(textNeeds, name, strings.Trim(strings.TrimPrefix(text, "expected "), `"`))
	case strings.Contains(text, ": expected a"): // --lines: expected a valid 64 bit int but got "x"
		flag, value, _ := strings.Cut(text, ": expected a")
		_, value, _ = strings.Cut(value, " but got ")
		text = flag + ": " + fmt.Sprintf(textNoNumber, value)
		if strings.Contains(value, "EOL") {
			text = flag + ": " + textNeedsValue
		}
	}
	return &console.UsageError{Text: clean.Line(text), Help: name} // it quotes the arguments
}

// nameOf is a command as it is typed behind the program's name: "budget set".
func nameOf(n *kong.Node) string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(nameOf(n.Parent) + " " + n.Name)
}

// place is the command that the words led to, and the words behind it. The command that
// a group stands for by default is not named by any word: then it is the group.
func place(ctx *kong.Context) (at *kong.Node, rest []string) {
	for _, step := range ctx.Path {
		if node := step.Node(); node != nil && (node.Parent == nil || node.Parent.DefaultCmd != node || slices.Contains(ctx.Args, node.Name)) {
			at = node
		}
		rest = step.Remainder()
	}
	return at, rest
}

// unknown says that a command has no such subcommand, and which one was probably meant.
func unknown(group, word string, candidates []string) string {
	full := func(word string) string { return strings.TrimSpace(group + " " + word) }
	text := fmt.Sprintf(textUnknownCommand, full(word))
	if near := words.Nearest(word, candidates); near != "" {
		text += fmt.Sprintf(textDidYouMean, full(near))
	}
	return text
}

// commandsOf are the names of the commands below a node that are shown.
func commandsOf(n *kong.Node) []string {
	var names []string
	for _, child := range n.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

// orList is a list in a sentence: "install, status or logs".
func orList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// textValue reads the value of a flag or argument that is a text. The parser takes
// nothing, and the next flag, for a text as well.
func textValue(ctx *kong.DecodeContext, target reflect.Value) error {
	token := ctx.Scan.Pop()
	value := token.String()
	flag := ctx.Value.Flag
	switch {
	case flag == nil: // an argument
	case token.IsEOL():
		return errors.New(textNeedsValue)
	case value == "" && ctx.Value.Tag.Has("filled"):
		return errors.New(textNeedsValue)
	case token.Type == kong.UntypedToken && strings.HasPrefix(value, "--") && !strings.ContainsAny(value, " \n"):
		return fmt.Errorf(textNeedsValueNot, flag.Name, value)
	}
	target.SetString(value)
	return nil
}
