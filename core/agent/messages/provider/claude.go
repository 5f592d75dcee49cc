package provider

// The beta features and server tools of Anthropic's own API.
const (
	betaCompaction     = "compact-2026-01-12"
	betaContextEditing = "context-management-2025-06-27"
	toolWebSearch      = "web_search_20260318"
)

// claudeModels are Anthropic's, the default first. Their prices are in core/money.
func claudeModels() []Model {
	effort := []string{"low", "medium", "high", "xhigh", "max"}
	list := []Model{
		{Name: "claude-opus-5-5", Aliases: []string{"opus"}},
		{Name: "claude-sonnet-5-5", Aliases: []string{"sonnet"}, Thinking: Thinking{Off: "between_tools"}},
		{Name: "claude-haiku-5-5", Aliases: []string{"haiku"}, Thinking: Thinking{Off: "disabled"}},
		{Name: "claude-fable-5-2", Aliases: []string{"fable"}},
	}
	for i := range list {
		m := &list[i]
		m.Provider, m.Window, m.MaxOutput = Anthropic, 1_000_000, 128_000
		m.Thinking.Style, m.Efforts = AdaptiveThinking, effort
		m.Cache, m.SystemMessages, m.Images, m.PDFs = true, true, true, true
		m.Compaction, m.ContextEditing, m.WebSearch = betaCompaction, betaContextEditing, toolWebSearch
	}
	return list
}
