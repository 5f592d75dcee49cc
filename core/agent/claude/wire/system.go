package wire

import "time"

// Init begins every turn, not only the first.
type Init struct {
	SessionID      string            `json:"session_id"`
	UUID           string            `json:"uuid"`
	Model          string            `json:"model"`
	PermissionMode string            `json:"permissionMode"`
	APIKeySource   string            `json:"apiKeySource"` // "none" without a key
	Version        string            `json:"claude_code_version"`
	OutputStyle    string            `json:"output_style"`
	Dir            string            `json:"cwd"`
	Tools          []string          `json:"tools"`
	MCPServers     []MCPServer       `json:"mcp_servers"`
	Agents         []string          `json:"agents"`
	Skills         []string          `json:"skills"`
	SlashCommands  []string          `json:"slash_commands"`
	MemoryPaths    map[string]string `json:"memory_paths"`
}

// MCPServer is a tool server as the CLI sees it.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // "connected", "pending", "failed" and others
}

// Init reads a system/init line.
func (l Line) Init() (Init, error) {
	return read[Init](l, TypeSystem, SubtypeInit)
}

// Status says what the CLI does now, or what has changed.
type Status struct {
	Status         string `json:"status"`         // "requesting", "compacting" or nothing
	PermissionMode string `json:"permissionMode"` // set when it has changed
	CompactResult  string `json:"compact_result"` // "success" or "failed", when a compaction has ended
	CompactError   string `json:"compact_error"`  // such as "too_few_groups"
	SessionID      string `json:"session_id"`
	UUID           string `json:"uuid"`
}

// Status reads a system/status line.
func (l Line) Status() (Status, error) {
	return read[Status](l, TypeSystem, SubtypeStatus)
}

// State is where the session stands; it comes only when it was asked for in
// the CLI's environment.
type State struct {
	State     string `json:"state"` // "running", "requires_action", "idle": the end of a turn
	SessionID string `json:"session_id"`
	UUID      string `json:"uuid"`
}

// State reads a system/session_state_changed line.
func (l Line) State() (State, error) {
	return read[State](l, TypeSystem, SubtypeState)
}

// ThinkingTokens estimates what the model has thought so far, in tokens.
type ThinkingTokens struct {
	Estimated int `json:"estimated_tokens"`
	Delta     int `json:"estimated_tokens_delta"`
}

// ThinkingTokens reads a system/thinking_tokens line.
func (l Line) ThinkingTokens() (ThinkingTokens, error) {
	return read[ThinkingTokens](l, TypeSystem, SubtypeThinkingTokens)
}

// Retry says that a request to the model has failed and is made again after
// Delay.
type Retry struct {
	Attempt     int           `json:"attempt"`
	MaxRetries  int           `json:"max_retries"`
	Delay       time.Duration `json:"-"`
	ErrorStatus int           `json:"error_status"` // HTTP; 0 without a connection
	Error       string        `json:"error"`        // the classes of Assistant.Error
	SessionID   string        `json:"session_id"`
	UUID        string        `json:"uuid"`
}

// Retry reads a system/api_retry line.
func (l Line) Retry() (Retry, error) {
	var v struct {
		Retry
		DelayMS float64 `json:"retry_delay_ms"`
	}
	err := l.decode(&v, TypeSystem, SubtypeRetry)
	v.Delay = millis(v.DelayMS)
	return v.Retry, err
}

// RateLimit is where the limit of a subscription stands. Fractions go from 0 to
// 1.
type RateLimit struct {
	Status                string    `json:"status"` // "allowed", "allowed_warning", "rejected"
	ResetsAt              time.Time `json:"-"`      // zero where unknown
	Type                  string    `json:"rateLimitType"`
	Utilization           float64   `json:"utilization"`
	SurpassedThreshold    float64   `json:"surpassedThreshold"`
	OverageStatus         string    `json:"overageStatus"`
	OverageDisabledReason string    `json:"overageDisabledReason"`
	IsUsingOverage        bool      `json:"isUsingOverage"`
}

// RateLimit reads a rate_limit_event line.
func (l Line) RateLimit() (RateLimit, error) {
	var v struct {
		Info struct {
			RateLimit
			ResetsAt float64 `json:"resetsAt"`
		} `json:"rate_limit_info"`
	}
	err := l.decode(&v, TypeRateLimit)
	r := v.Info.RateLimit
	r.ResetsAt = unix(v.Info.ResetsAt)
	return r, err
}

// Compact says that the history has been compacted.
type Compact struct {
	Trigger    string        `json:"trigger"` // "manual", "auto"
	PreTokens  int           `json:"pre_tokens"`
	PostTokens int           `json:"post_tokens"`
	Duration   time.Duration `json:"-"`
	// Preserved are the uuids of the messages that were kept as they are.
	Preserved []string `json:"-"`
}

// Compact reads a system/compact_boundary line.
func (l Line) Compact() (Compact, error) {
	var v struct {
		Metadata struct {
			Compact
			DurationMS float64 `json:"duration_ms"`
			Preserved  struct {
				UUIDs []string `json:"uuids"`
			} `json:"preserved_messages"`
		} `json:"compact_metadata"`
	}
	err := l.decode(&v, TypeSystem, SubtypeCompactBoundary)
	c := v.Metadata.Compact
	c.Duration, c.Preserved = millis(v.Metadata.DurationMS), v.Metadata.Preserved.UUIDs
	return c, err
}

// Denied is a tool call that was refused without asking the host.
type Denied struct {
	ToolName   string `json:"tool_name"`
	ToolUseID  string `json:"tool_use_id"`
	ReasonType string `json:"decision_reason_type"` // "mode", "rule" and others
	Message    string `json:"message"`
	AgentID    string `json:"agent_id"` // of a subagent
}

// Denied reads a system/permission_denied line.
func (l Line) Denied() (Denied, error) {
	return read[Denied](l, TypeSystem, SubtypePermissionDenied)
}
