package wire

import "time"

// Task is news of a subagent or of a command in the background: that it has
// started, goes on, has changed or has ended. Only what the event carries is set.
type Task struct {
	Event           string    `json:"subtype"` // SubtypeTaskStarted and its likes
	ID              string    `json:"task_id"`
	ToolUseID       string    `json:"tool_use_id"` // the call that began it
	Description     string    `json:"description"`
	TaskType        string    `json:"task_type"` // "local_bash", "local_agent"
	SubagentType    string    `json:"subagent_type"`
	Prompt          string    `json:"prompt"`
	Status          string    `json:"status"` // "completed" and others, when it has changed
	Summary         string    `json:"summary"`
	OutputFile      string    `json:"output_file"`
	LastToolName    string    `json:"last_tool_name"`
	Usage           TaskUsage `json:"-"`
	SessionID, UUID string    `json:"-"`
}

// TaskUsage is what a task has used.
type TaskUsage struct {
	TotalTokens int           `json:"total_tokens"`
	ToolUses    int           `json:"tool_uses"`
	Duration    time.Duration `json:"-"`
}

// Task reads a system/task_started, task_progress, task_updated or
// task_notification line.
func (l Line) Task() (Task, error) {
	var v struct {
		Task
		Usage struct {
			TaskUsage
			DurationMS float64 `json:"duration_ms"`
		} `json:"usage"`
		Patch struct {
			Status string `json:"status"`
		} `json:"patch"`
		SessionID string `json:"session_id"`
		UUID      string `json:"uuid"`
	}
	err := l.decode(&v, TypeSystem, SubtypeTaskStarted, SubtypeTaskProgress, SubtypeTaskUpdated, SubtypeTaskNotification)
	t := v.Task
	t.Usage = v.Usage.TaskUsage
	t.Usage.Duration = millis(v.Usage.DurationMS)
	if t.Status == "" {
		t.Status = v.Patch.Status
	}
	t.SessionID, t.UUID = v.SessionID, v.UUID
	return t, err
}

// Informational is a text of the CLI for the user, such as that a hook has
// blocked the prompt.
type Informational struct {
	Content             string `json:"content"`
	Level               string `json:"level"`                // "info", "warning" and others
	PreventContinuation bool   `json:"prevent_continuation"` // the turn ends here
}

// Informational reads a system/informational line.
func (l Line) Informational() (Informational, error) {
	return read[Informational](l, TypeSystem, SubtypeInformational)
}

// Notification is a passing text of the CLI. One with the key
// "stop-hook-error" follows every Stop hook that blocks and is no error.
type Notification struct {
	Key      string `json:"key"`
	Text     string `json:"text"`
	Priority string `json:"priority"`
}

// Notification reads a system/notification line.
func (l Line) Notification() (Notification, error) {
	return read[Notification](l, TypeSystem, SubtypeNotification)
}

// ModelFallback says that the CLI has switched to another model.
type ModelFallback struct {
	Trigger       string `json:"trigger"` // "overloaded"
	OriginalModel string `json:"original_model"`
	FallbackModel string `json:"fallback_model"`
	Content       string `json:"content"` // the same in words
}

// ModelFallback reads a system/model_fallback line.
func (l Line) ModelFallback() (ModelFallback, error) {
	return read[ModelFallback](l, TypeSystem, SubtypeModelFallback)
}

// Refusal says that the model has refused to answer, and that there is no
// other to ask.
type Refusal struct {
	OriginalModel   string `json:"original_model"`
	Category        string `json:"api_refusal_category"`
	Explanation     string `json:"api_refusal_explanation"`
	UserMessageUUID string `json:"refused_user_message_uuid"`
	RequestID       string `json:"request_id"` // of the API
	Content         string `json:"content"`
}

// Refusal reads a system/model_refusal_no_fallback line.
func (l Line) Refusal() (Refusal, error) {
	return read[Refusal](l, TypeSystem, SubtypeRefusal)
}
