package tools

import "encoding/json"

// searchUses is how often a provider may search for one query.
const searchUses = 8

// Definition is the provider's server tool for this query, of a version such as
// "web_search_20250305".
func (q Query) Definition(version string) json.RawMessage {
	data, err := json.Marshal(struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		MaxUses int      `json:"max_uses"`
		Allowed []string `json:"allowed_domains,omitempty"`
		Blocked []string `json:"blocked_domains,omitempty"`
	}{version, "web_search", searchUses, q.Allowed, q.Block})
	if err != nil { // texts and a number always can
		return nil
	}
	return data
}
