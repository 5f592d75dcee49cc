package routines

import "strings"

// check reads the command that decides whether a fire runs. One that cannot be used leaves
// every fire running: a mistake must not silence a routine.
func (p *File) check(background bool) string {
	if p.kind != KindRoutine {
		return ""
	}
	text := p.Line("check")
	f := p.Field("check")
	switch {
	case f.Key == "":
	case text == "":
		p.AddAt(Warning, f, msgCheckEmpty)
	case !background:
		p.AddAt(Warning, f, msgCheckFront)
		return ""
	case strings.HasPrefix(text, "mcp__"):
		p.AddAt(Error, f, msgCheckTool, show(text))
		return ""
	}
	return text
}
