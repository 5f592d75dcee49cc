package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/routines"
)

func (h Host) model(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return strings.Join(append([]string{"model: " + cmp.Or(h.Chat.CurrentSettings().Model, "(default)") + "."}, ModelLines(h.models(ctx))...), "\n"), nil
	}
	name := args[0]
	if !strings.Contains(name, "/") {
		name = strings.ToLower(name)
	}
	if !routines.ValidModel(name) {
		return "", fmt.Errorf("model must be one of: %s, or provider/model such as local/qwen3", strings.Join(Models, ", "))
	}
	if err := h.checkModels(name); err != nil {
		return "", err
	}
	if err := h.Chat.SetModel(ctx, name); err != nil {
		return "", err
	}
	return "switched to " + name + "." + h.means(ctx, name) + h.ignoredThinking(h.Chat.Settings(false)), nil
}

// checkModels checks that the provider of each model in a comma-separated list has it.
func (h Host) checkModels(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); strings.Contains(name, "/") && h.CheckModel != nil {
			if err := h.CheckModel(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h Host) thinking(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		now := h.Chat.CurrentSettings()
		return "thinking: " + now.Thinking + "." + h.ignoredThinking(now), nil
	}
	mode := strings.ToLower(args[0])
	if mode != "off" && mode != "adaptive" && !isTokens(mode) {
		return "", errors.New("thinking must be off, adaptive or a number of tokens such as 8000")
	}
	if err := h.Chat.SetThinking(ctx, mode); err != nil {
		return "", err
	}
	return "thinking: " + mode + "." + h.ignoredThinking(h.Chat.Settings(false)), nil
}

// ignoredThinking describes the part of a thinking setting that the model ignores, or
// returns "".
func (h Host) ignoredThinking(s agent.Settings) string {
	r, ok := h.Engine.(agent.Reporter)
	if !ok {
		return ""
	}
	m, _ := r.Status().Model(s.Model)
	switch {
	case s.Thinking == "off" && m.AlwaysThinks:
		return fmt.Sprintf(textAlwaysThinks, cmp.Or(s.Model, "(default)"))
	case isTokens(s.Thinking) && m.OwnMeasure:
		return fmt.Sprintf(textOwnMeasure, cmp.Or(s.Model, "(default)"))
	}
	return ""
}

func isTokens(s string) bool {
	return s != "" && s[0] != '0' && len(s) <= 7 && strings.Trim(s, "0123456789") == ""
}

// permissions shows or sets the permission mode of the fork or the main session. The mode
// lasts until the process ends.
func (h Host) permissions(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "permissions: " + string(h.Chat.Mode()) + ".", nil
	}
	mode := ""
	for _, m := range permissionModes {
		if strings.EqualFold(m, args[0]) {
			mode = m
		}
	}
	if mode == "" {
		return "", fmt.Errorf("permissions must be one of: %s", strings.Join(permissionModes, ", "))
	}
	before := string(h.Chat.Mode())
	if err := h.Chat.SetMode(ctx, policy.Mode(mode)); err != nil {
		return "", err
	}
	h.Record(ctx, audit.Entry{Action: audit.ModeChanged, Detail: before + " → " + mode})
	return "permissions: " + mode + ".", nil
}

// config shows all settings, one of them, or sets one.
func (h Host) config(ctx context.Context, args []string) (string, error) {
	switch len(args) {
	case 0:
		state, _ := h.Budget.State(h.Now())
		return config.Overview(*h.Config(), state.Settings()...), nil
	case 1:
		l, err := config.ShowOne(*h.Config(), args[0])
		lines := []string{l.String()}
		if config.TakesModel(l.Key) {
			lines = append(lines, ModelLines(h.models(ctx))...)
		}
		return strings.Join(lines, "\n"), err
	}
	value := strings.Join(args[1:], " ")
	value, sure := strings.CutSuffix(value, " sure")
	done, err := SetConfig{Key: args[0], Value: value, Sure: sure}.CarryOut(ctx, h)
	if done.Follows != "" {
		done.Message = done.Follows + textSayAgain
	}
	return done.Message, err
}

// set changes a setting. A new value is recorded in the audit log.
func (h Host) set(ctx context.Context, key, value string) (config.Change, error) {
	if err := config.Try(&config.Runtime{}, key, value); err == nil && config.TakesModel(key) {
		if err := h.checkModels(value); err != nil {
			return config.Change{}, err
		}
	}
	r, change, err := config.Set(h.Dir, key, value)
	if err != nil {
		return change, err
	}
	if change.Before != change.After {
		h.Record(ctx, audit.Entry{Action: audit.ConfigChanged, Subject: change.Key, Detail: change.Was + " → " + change.Is})
	}
	h.SetConfig(&r)
	return change, h.Chat.ConfigChanged(ctx, change.Key)
}

// ignored describes the part of a change that the model ignores, or returns "".
func (h Host) ignored(c config.Change) string {
	if !strings.HasPrefix(c.Key, "thinking_") {
		return ""
	}
	return h.ignoredThinking(h.Chat.Settings(c.Key == "thinking_fork"))
}

// timezone shows or sets the zone whose clock tasks follow.
func (h Host) timezone(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return fmt.Sprintf(textZone, h.Now().Location(), h.Now().Format("Mon 2 Jan 15:04")), nil
	}
	return h.config(ctx, append([]string{config.KeyZone}, args...))
}

// restarts says how a change of the time zone takes effect, or "".
func (h Host) restarts(c config.Change) string {
	switch {
	case c.Key != config.KeyZone:
		return ""
	case h.Restart == nil:
		return textZoneLater
	}
	return textZoneRestarts
}

// CarryOut changes the setting. If the change has a consequence that needs confirmation,
// it only describes the consequence.
func (c SetConfig) CarryOut(ctx context.Context, h Host) (Outcome, error) {
	if err := config.Try(&config.Runtime{}, c.Key, c.Value); err != nil {
		return Outcome{}, err
	}
	if c.Key == config.KeyZone && h.ZoneFixed != "" {
		return Outcome{}, fmt.Errorf(textZoneFixed, h.ZoneFixed)
	}
	if follows := h.Follows(c.Key, c.Value); follows != "" && !c.Sure {
		return Outcome{Follows: follows}, nil
	}
	change, err := h.set(ctx, c.Key, c.Value)
	if err != nil {
		return Outcome{}, err
	}
	if change.Before == change.After {
		return Outcome{Message: fmt.Sprintf(textUnchanged, change.Key, change.Is)}, nil
	}
	return Outcome{
		Message: fmt.Sprintf(textChanged, change.Key, change.Was, change.Is) + h.chose(ctx, change) + h.ignored(change) + h.restarts(change),
		Undo:    SetConfig{Key: change.Key, Value: change.Before, Sure: true},
	}, nil
}

// lift suspends the spending caps for today.
func (h Host) lift(ctx context.Context, args []string) (string, error) {
	undo := len(args) == 1 && args[0] == "off"
	if len(args) > 0 && !undo {
		return "", errors.New("use /lift to suspend the caps for today, or /lift off to apply them again")
	}
	return h.Lift(ctx, undo)
}

// pingBudget shows or sets the budget. The numbers are positional, as in 6 60, or named, as in
// capacity=6 refill_rate=60.
func (h Host) pingBudget(ctx context.Context, args []string) (string, error) {
	var set SetBudget
	slots := []**int{&set.Capacity, &set.RefillMinutes}
	for i, a := range args {
		slot := i
		if key, value, ok := strings.Cut(strings.ReplaceAll(a, ":", "="), "="); ok {
			a = value
			switch key {
			case "capacity":
				slot = 0
			case "refill_rate", "refill":
				slot = 1
			default:
				return "", fmt.Errorf("unknown option %q: ping-budget takes capacity and refill_rate", key)
			}
		}
		n, err := strconv.Atoi(a)
		if err != nil || slot >= len(slots) {
			return "", fmt.Errorf("%q is invalid: use /ping-budget capacity refill_rate, such as /ping-budget 6 60", a)
		}
		*slots[slot] = &n
	}
	now := h.Now()
	if len(args) == 0 {
		s, _ := h.Budget.State(now)
		return "ping budget: " + words.Joined(s.FullStatus(now), h.Tally.At(now).Text(h.Config().QuietMessages)) + ".", nil
	}
	done, err := set.CarryOut(h.Budget, now)
	if err != nil {
		return "", err
	}
	head := done.Message
	if done.Undo != nil {
		h.Record(ctx, audit.Entry{Action: audit.BudgetChanged, Detail: head})
		head = "ping budget updated"
	}
	after, _ := h.Budget.State(now)
	return head + ": " + after.Status(now) + ".", nil
}
