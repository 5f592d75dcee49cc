package command

import (
	"context"
	"slices"
	"strings"

	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
)

// ModelChoice is a model that can be chosen beside those that the settings name: what is known of it, in a few words, and
// what the choice means, in a sentence. Both may be empty.
type ModelChoice struct{ Name, About, Means string }

// ModelLines describes models, one a line.
func ModelLines(list []ModelChoice) (lines []string) {
	for _, c := range list {
		lines = append(lines, strings.TrimSuffix(c.Name+": "+c.About, ": "))
	}
	return lines
}

// modelMenu are the models as choices of a menu.
func modelMenu(list []ModelChoice, now string) (choices []post.Choice) {
	for _, c := range list {
		choices = append(choices, post.Choice{Label: c.Name, Value: c.Name, About: c.About, Chosen: c.Name == now})
	}
	return choices
}

// models returns what can be chosen as a model.
func (h Host) models(ctx context.Context) []ModelChoice {
	if h.Models == nil {
		return nil
	}
	return h.Models(ctx)
}

// means says, after a blank, what the choice of a model means, or returns "".
func (h Host) means(ctx context.Context, name string) string {
	if !strings.Contains(name, "/") {
		return ""
	}
	all := h.models(ctx)
	i := slices.IndexFunc(all, func(c ModelChoice) bool { return c.Name == name })
	if i < 0 || all[i].Means == "" {
		return ""
	}
	return " " + all[i].Means
}

// chose is means for a changed setting, whose sentence it ends.
func (h Host) chose(ctx context.Context, c config.Change) string {
	if !config.TakesModel(c.Key) {
		return ""
	}
	if means := h.means(ctx, c.After); means != "" {
		return "." + means
	}
	return ""
}
