package tools

import (
	"context"
	"encoding/json"
	"errors"
)

// searchUses is how often a provider may search for one query.
const searchUses = 8

// Query is a search of the web.
type Query struct {
	Text             string
	Allowed, Blocked []string // domains: only these, or all but these; one of them is empty
}

// Definition is the provider's server tool for this query, of a version such as
// "web_search_20250305".
func (q Query) Definition(version string) json.RawMessage {
	data, err := json.Marshal(struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		MaxUses int      `json:"max_uses"`
		Allowed []string `json:"allowed_domains,omitempty"`
		Blocked []string `json:"blocked_domains,omitempty"`
	}{version, "web_search", searchUses, q.Allowed, q.Blocked})
	if err != nil { // texts and a number always can
		return nil
	}
	return data
}

func (b *Box) search(ctx context.Context, c call) (Result, error) {
	q := Query{Text: c.Text("query"), Allowed: c.texts("allowed_domains"), Blocked: c.texts("blocked_domains")}
	if len(q.Allowed) > 0 && len(q.Blocked) > 0 {
		return Result{}, errors.New(textTwoLists)
	}
	return b.o.Search(ctx, q), nil
}

// texts are the strings of an array.
func (c call) texts(key string) []string {
	all, _ := c.Arguments[key].([]any)
	var list []string
	for _, one := range all {
		if text, ok := one.(string); ok && text != "" {
			list = append(list, text)
		}
	}
	return list
}
