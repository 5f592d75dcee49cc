package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ollimbot/core/clean"
)

// todo is one item of the session's list.
type todo struct{ content, status string }

// writeTodo keeps the list and gives it back: in a long turn it is what the model finds
// again.
func (b *Box) writeTodo(_ context.Context, c call) (Result, error) {
	var list []todo
	busy := 0
	for _, one := range c.List("todos") {
		t := todo{clean.Cut(clean.Line(one.Text("content")), maxShown), one.Text("status")}
		if t.status == "in_progress" {
			busy++
		}
		list = append(list, t)
	}
	if busy > 1 {
		return Result{}, errors.New(textBusy)
	}
	b.mu.Lock()
	b.todo = list
	b.mu.Unlock()
	if len(list) == 0 {
		return Result{Text: textNoTodo}, nil
	}
	marks := map[string]string{"pending": " ", "in_progress": ">", "completed": "x"}
	var out strings.Builder
	for _, t := range list {
		fmt.Fprintf(&out, "[%s] %s\n", marks[t.status], t.content)
	}
	return Result{Text: out.String()}, nil
}
