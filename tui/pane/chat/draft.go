package chat

import "strings"

// Draft is what was written and not sent yet, or empty.
func (p *Pane) Draft() string { return strings.TrimSpace(p.folds.unfold(p.field.Text())) }
