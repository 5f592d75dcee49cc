package agent

import (
	"encoding/json"
	"time"
)

// Event is something that happens in a turn. This file contains all types; consumers ignore unknown
// ones.
type Event interface{ event() }

// Text is a piece of the answer, in order.
type Text struct{ Delta string }

// Rewind takes back the last Bytes bytes of the text: the stream broke, and the following text
// replaces them.
type Rewind struct{ Bytes int }

// Thinking is a piece of the model's reasoning. Delta may be empty if the engine only knows that
// the model is thinking.
type Thinking struct{ Delta string }

// ToolStart reports the call of a tool, with its complete input.
type ToolStart struct {
	ID    string
	Name  string
	Input json.RawMessage
	// Subagent describes the calling subagent; empty if the main session called.
	Subagent string
}

// ToolEnd reports the result of a tool.
type ToolEnd struct {
	ID      string
	Name    string
	Text    string
	IsError bool
	// Denied means that the call was refused and the tool never ran.
	Denied bool
}

// Compacting means that the history is being compacted or, if Done, has been.
type Compacting struct {
	Done      bool
	Auto      bool
	PreTokens int // 0 if unknown
}

// Retry means that the engine is waiting and will try again.
type Retry struct {
	Attempt, Of int
	Wait        time.Duration
	Reason      string
}

// RateLimit is the state of the account's limit.
type RateLimit struct {
	Status string // "allowed", "allowed_warning", "rejected"
	Resets time.Time
}

// Notice is a message of the engine itself, such as a switched model.
type Notice struct{ Text string }

// Result ends a turn.
type Result struct {
	SessionID   string
	Text        string // the last text, for engines without deltas
	Interrupted bool
	IsError     bool
	Unavailable bool // with IsError: an ErrUnavailable
	// Stopped is why the turn was ended before the model was done; otherwise empty.
	Stopped string
	Turns   int
	// Usage is that of this turn, for those who show the turn. Hooks.Charge books it.
	Usage Usage
}

// Usage is the usage of a turn.
type Usage struct {
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	CacheRead    int     `json:"cache_read_tokens"`
	CacheWrite   int     `json:"cache_write_tokens"`
	CacheHour    int     `json:"cache_hour_tokens,omitempty"` // the part of CacheWrite that is kept for an hour
	CostUSD      float64 `json:"cost_usd"`
	// Free means that the usage costs nothing. If a usage is not free and has no price, its cost is
	// unknown.
	Free bool `json:"-"`
}

// Tokens returns the number of all tokens, read and written.
func (u Usage) Tokens() int {
	return u.InputTokens + u.OutputTokens + u.CacheRead + u.CacheWrite
}

// Prompt returns the number of tokens read, including those from the cache.
func (u Usage) Prompt() int { return u.InputTokens + u.CacheRead + u.CacheWrite }

// Cached returns the share of the prompt that was read from the cache, 0 to 1. ok is false without
// a cache.
func (u Usage) Cached() (share float64, ok bool) {
	if u.CacheRead+u.CacheWrite <= 0 {
		return 0, false
	}
	return float64(u.CacheRead) / float64(u.Prompt()), true
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite, CacheHour: u.CacheHour + v.CacheHour,
		CostUSD: u.CostUSD + v.CostUSD,
	}
}

func (Text) event()       {}
func (Rewind) event()     {}
func (Thinking) event()   {}
func (ToolStart) event()  {}
func (ToolEnd) event()    {}
func (Compacting) event() {}
func (Retry) event()      {}
func (RateLimit) event()  {}
func (Notice) event()     {}
func (Result) event()     {}
