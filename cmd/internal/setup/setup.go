// Package setup is the command init: it asks for names, time zone and Discord token, checks
// the token, and saves the answers. It must not know the bot that uses them.
package setup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"ollimbot/cmd/internal/console"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/config"
	"ollimbot/discord"
	"ollimbot/routines/zones"
)

// Cmd is the command init.
type Cmd struct {
	Hello   bool `help:"Let the bot write you one message in Discord, without asking: the only proof that it can reach you."`
	Offline bool `help:"Save the token without checking it with Discord."`
	Wait    bool `help:"Wait for Enter at the end, for the dashboard that starts this command."`
}

// Texts for the user.
const (
	textInitIntro = "This asks four questions and writes the answers to %s, which only you can read.\n" +
		"Press Enter to accept the value in brackets.\n"
	textAskUser  = "What is your name? [%s] "
	textAskBot   = "What is the bot's name? [%s] "
	textAskZone  = "Your time zone? [%s] "
	textAskToken = "Discord token? [%s] "
	textHowToken = "\nFor Discord the bot needs its own token. Without one, talk to it in the dashboard.\n" +
		"  1. Open https://discord.com/developers/applications and click New Application; give it the bot's name.\n" +
		"  2. Installation: tick User Install and Guild Install, Save Changes.\n" +
		"  3. Bot: click Reset Token, then Copy. No privileged intent is needed.\n"
	textAskHello     = "Once you have added it: may the bot send you a test message in Discord now, to prove that it can reach you? [yes] "
	textTokenKept    = "keep the one that is set"
	textTokenNone    = "none"
	textBadZone      = "%q is no time zone: write one such as Europe/Berlin"
	textBadToken     = "that is not a token: copy all of it, on one line"
	textTokenRefused = "the token was not saved: get a new one and run ollim-bot init again"
	textUnchecked    = "the token was saved unchecked: run ollim-bot doctor when Discord can be reached"
	textTokenAgain   = "That token does not work; the other answers are kept.\n"
	textInvite       = "Add the bot to one of your private servers, so that it may write to you:\n  %s\n"
	textInstall      = "Install its commands for yourself (in the page that opens: Add to My Apps):\n  %s\n"
	textHelloAgain   = "Then run ollim-bot init --hello: it writes to you, or shows what is missing.\n"
	textWritten      = "Written to %s."
	textStart        = " Start the bot with: %s\n"
	textRestart      = "The running bot reads it at its next start.\n"
	textEnvWins      = "Careful: %s is also set in the environment, which overrides the file.\n"
	textInitEnter    = "Press Enter for the dashboard. "
	textServer       = "%s at %s has %s that can chat:\n"
	textServerModel  = "  %d. %s: %s\n"
	textServerMore   = "  and %d more, which you can name\n"
	textServerMute   = "Left out, because they cannot chat: %s.\n"
	textAskModel     = "Which one may the bot use? Its number or name, or no [1] "
	textAServer      = "A server of models"
	textBadModel     = "write a number from 1 to %d, the name of a model, or no"
	textThinksBoth   = "The bot uses the claude command (%s). %[2]s is available too: set /config fallback %[2]s to use it while Claude is unavailable.\n"
	textThinksClaude = "The bot uses the claude command (%s).\n"
	textThinksModel  = "The bot uses %s (%s).\n"
	textThinksNobody = "The bot has no model yet: install the claude command, put ANTHROPIC_API_KEY into .env, or start Ollama; " +
		"until then a script answers.\n"
	textByHand = "%s could not be changed safely: add %s to it by hand"
)

// Run asks the questions. With Wait, the user can read the result before the dashboard covers it.
func (c *Cmd) Run(p *console.Process) error {
	q := &questions{p: p, in: bufio.NewReader(p.In)}
	err := c.walk(q)
	if c.Wait {
		if err != nil {
			console.Tell(p.Err, "%v", err)
			err = console.ErrSilent
		}
		p.Print(textInitEnter)
		_, _ = q.in.ReadString('\n') // the dashboard follows, whatever was typed
	}
	return cmp.Or(err, p.Unwritten())
}

// walk asks for names, zone and token, checks the token against Discord and
// writes .env, keeping its other lines. It can be repeated, and run from a pipe with one
// answer a line.
func (c *Cmd) walk(q *questions) error {
	p := q.p
	at, err := p.Open()
	if err != nil {
		return err
	}
	if err := at.Dir.Writable(); err != nil { // before any question
		return err
	}
	path := at.Dir.Display() + "/" + config.EnvFile
	p.Print(textInitIntro, path)
	user, bot, zone, err := q.aboutYou(at)
	if err != nil {
		return err
	}
	token, wrong, err := c.working(q, at)
	if err != nil {
		return err
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	if err := config.SetNames(at.Dir, user, bot); err != nil {
		return err
	}
	if err := writeVariables(at, zone, token); err != nil {
		return err
	}
	if err := q.whoAnswers(at); err != nil {
		return err
	}
	c.finish(p, at)
	return wrong
}

// whoAnswers searches for models on this machine and offers them.
func (q *questions) whoAnswers(at console.DataDir) error {
	providers := q.p.Providers(at)
	if _, err := at.Dir.Read(provider.File); errors.Is(err, fs.ErrNotExist) {
		if server := provider.Local(context.Background(), q.p.Getenv("OLLAMA_HOST")); server != nil {
			if err := q.offer(at, *server); err != nil {
				return err
			}
		}
	}
	path, err := claudeproc.Find(q.p.EngineEnv(at))
	list := providers.Providers()
	switch {
	case err == nil && len(list) > 0:
		q.p.Print(textThinksBoth, path, list[0].Models[0].FullName())
	case err == nil:
		q.p.Print(textThinksClaude, path)
	case len(list) > 0:
		q.p.Print(textThinksModel, list[0].Models[0].FullName(), list[0].BaseURL)
	default:
		q.p.Print(textThinksNobody)
	}
	return nil
}

// shownModels is how many models of a server are listed.
const shownModels = 12

// offer lists the models of a server, and writes down the one that the user chooses.
func (q *questions) offer(at console.DataDir, s provider.Server) error {
	q.p.Print(textServer, cmp.Or(s.Product, textAServer), s.Address, words.Count(len(s.Models), "model"))
	for i, o := range s.Models[:min(len(s.Models), shownModels)] {
		q.p.Print(textServerModel, i+1, o.Name, o)
	}
	if more := len(s.Models) - shownModels; more > 0 {
		q.p.Print(textServerMore, more)
	}
	if len(s.Mute) > 0 {
		q.p.Print(textServerMute, clean.Cut(strings.Join(s.Mute, ", "), 200))
	}
	said, err := q.ask(textAskModel, "1", q.line, func(answer string) error {
		if _, ok := chosen(s, answer); !ok && !declines(answer) {
			return fmt.Errorf(textBadModel, len(s.Models))
		}
		return nil
	})
	if err != nil || declines(said) {
		return err
	}
	o, _ := chosen(s, said)
	if err := at.Dir.Write(provider.File, s.YAML(o)); err != nil {
		return err
	}
	q.p.Print("%s\n", s.Meaning(o))
	return nil
}

// chosen returns the model that an answer means: its number, its name, or yes for the first.
func chosen(s provider.Server, answer string) (provider.Offer, bool) {
	n, err := strconv.Atoi(answer)
	if strings.HasPrefix(strings.ToLower(answer), "y") {
		n, err = 1, nil
	}
	if err == nil && n >= 1 && n <= len(s.Models) {
		return s.Models[n-1], true
	}
	i := slices.IndexFunc(s.Models, func(o provider.Offer) bool { return o.Name == answer })
	if i < 0 {
		return provider.Offer{}, false
	}
	return s.Models[i], true
}

func declines(answer string) bool {
	answer = strings.ToLower(answer)
	return answer == "no" || answer == "n"
}

// working asks for a token until Discord accepts one or cannot be reached, from a pipe
// once. wrong is an error to report at the end, or nil. A refused token is not saved.
func (c *Cmd) working(q *questions, at console.DataDir) (token config.Secret, wrong, err error) {
	for {
		if token, err = q.token(at); token == "" || err != nil || c.Offline {
			return token, nil, err
		}
		r, err := c.check(q, at, token)
		switch {
		case err != nil:
			return "", nil, err
		case r.Unasked && r.BotName == "":
			return token, errors.New(textUnchecked), nil
		case !r.Refused:
			return token, nil, nil
		case !q.p.Terminal():
			return "", errors.New(textTokenRefused), nil
		}
		at.Env.DiscordToken = "" // enter must not bring the refused one back
		q.p.Print(textTokenAgain)
	}
}

// finish prints the next steps, and how the changes take effect. A waiting dashboard applies them itself.
func (c *Cmd) finish(p *console.Process, at console.DataDir) {
	for _, name := range []string{"OLLIM_USER_NAME", "OLLIM_BOT_NAME", "OLLIM_TIMEZONE", "DISCORD_TOKEN"} {
		if p.Getenv(name) != "" {
			p.Print(textEnvWins, name)
		}
	}
	p.Print(textWritten, at.Dir.Display()+"/"+config.EnvFile)
	if c.Wait {
		p.Print("\n")
		return
	}
	start := "ollim-bot run"
	if p.Flags.DataDir != "" {
		start += " --data-dir " + console.Word(at.Dir.Root())
	}
	p.Print(textStart, start)
	if _, running := at.Dir.Running(); running {
		p.Print(textRestart)
	}
}

// check checks the token with Discord and prints the result. Only then, when the user may have authorized the bot,
// does the bot send a message.
func (c *Cmd) check(q *questions, at console.DataDir, token config.Secret) (discord.Report, error) {
	printed, wrote := 0, false
	tell := func(r discord.Report) {
		for _, f := range r.Findings[printed:] {
			mark := "ok  "
			if !f.OK {
				mark = "!   "
			}
			q.p.Print("%s%s\n", mark, f.Text)
			if f.Next != "" {
				q.p.Print("    -> %s\n", f.Next)
			}
		}
		if printed == 0 && r.InstallLink != "" {
			q.p.Print(textInvite, r.InstallLink)
		}
		if printed == 0 && r.UserLink != "" {
			q.p.Print(textInstall, r.UserLink)
		}
		printed = len(r.Findings)
	}
	var unanswered error
	r, err := discord.Check(context.Background(), discord.CheckOptions{
		Token: token, API: at.Env.DiscordAPI, OwnerID: at.Env.OwnerID, Version: q.p.Version,
		Hello: func(r discord.Report) bool {
			tell(r)
			if wrote = c.Hello; !wrote && q.p.Terminal() {
				wrote, unanswered = q.agrees(textAskHello)
			}
			return wrote && unanswered == nil
		},
	})
	if err = cmp.Or(err, unanswered); err != nil {
		return r, err
	}
	tell(r)
	if r.BotName != "" && (!wrote || !r.OK()) {
		q.p.Print(textHelloAgain)
	}
	return r, nil
}

// questions asks questions one after the other. On a terminal, an invalid answer repeats the question; from a pipe,
// it is an error.
type questions struct {
	p  *console.Process
	in *bufio.Reader
}

func (q *questions) aboutYou(at console.DataDir) (user, bot, zone string, err error) {
	for _, one := range []struct {
		text, now string
		check     func(string) error
		to        *string
	}{{textAskUser, at.Env.UserName, nil, &user}, {textAskBot, at.Env.BotName, nil, &bot}, {textAskZone, at.Env.ZoneName, zoneAnswer, &zone}} {
		if *one.to, err = q.ask(fmt.Sprintf(one.text, one.now), one.now, q.line, one.check); err != nil {
			return "", "", "", err
		}
	}
	return user, bot, zone, nil
}

// agrees asks a question to which Enter means yes.
func (q *questions) agrees(question string) (bool, error) {
	said, err := q.ask(question, "yes", q.line, nil)
	return strings.HasPrefix(strings.ToLower(said), "y"), err
}

func zoneAnswer(name string) error {
	if _, err := zones.Load(name); err != nil {
		return fmt.Errorf(textBadZone, name)
	}
	return nil
}

// tokenAnswer checks only the form; an empty answer keeps the current token.
func tokenAnswer(s string) error {
	s = discord.BareToken(s)
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if s != "" && (strings.Trim(s, fine) != "" || len(s) < 20 || len(s) > 200) {
		return errors.New(textBadToken)
	}
	return nil
}

// token asks for the token without showing it. Empty keeps the one that is set,
// which is checked again.
func (q *questions) token(at console.DataDir) (config.Secret, error) {
	shown := textTokenKept
	if at.Env.DiscordToken == "" {
		shown = textTokenNone
		q.p.Print(textHowToken)
	}
	hidden := func() (string, error) { return q.p.Secret(q.in) }
	answer, err := q.ask(fmt.Sprintf(textAskToken, shown), "", hidden, tokenAnswer)
	if answer == "" {
		return at.Env.DiscordToken, err
	}
	return config.Secret(discord.BareToken(answer)), err
}

func (q *questions) line() (string, error) { return q.p.Line(q.in) }

// ask asks until the answer passes; an empty one means otherwise.
func (q *questions) ask(question, otherwise string, read func() (string, error), check func(string) error) (string, error) {
	for {
		q.p.Print("%s", question)
		answer, err := read()
		if err = cmp.Or(err, q.p.Unwritten()); err != nil {
			return "", err
		}
		answer = cmp.Or(answer, otherwise)
		if check == nil {
			return answer, nil
		}
		wrong := check(answer)
		switch {
		case wrong == nil:
			return answer, nil
		case !q.p.Terminal():
			return "", wrong
		}
		q.p.Print("%v\n", wrong)
	}
}

// writeVariables writes the zone and the token to .env, and keeps all other lines. It reads the file back and, if the
// values differ, restores the old file.
func writeVariables(at console.DataDir, zone string, token config.Secret) error {
	names := "OLLIM_TIMEZONE=" + zone
	return at.Dir.WithLock("env", func() error {
		before, err := at.Dir.Read(config.EnvFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", config.EnvFile, err)
		}
		data, moved := before, !at.Env.ZoneKept || zone != at.Env.ZoneName
		if moved { // where nothing sets the zone, the bot asks when the machine's changes
			data = config.SetVariable(data, "OLLIM_TIMEZONE", zone)
		}
		if token != "" && token != at.Env.DiscordToken {
			names += " and DISCORD_TOKEN"
			data = config.SetVariable(data, "DISCORD_TOKEN", token.Reveal())
		}
		if bytes.Equal(data, before) {
			return nil
		}
		if err := at.Dir.Write(config.EnvFile, data); err != nil {
			return err
		}
		env, _, err := config.LoadEnv(func(string) string { return "" }, config.Flags{DataDir: at.Dir.Root()})
		inEnv := strings.Contains(names, "DISCORD_TOKEN")
		if err == nil && (!moved || env.ZoneName == zone) && (!inEnv || env.DiscordToken == token) {
			return nil
		}
		wrong := fmt.Errorf(textByHand, at.Dir.Display()+"/"+config.EnvFile, names)
		return errors.Join(wrong, at.Dir.Write(config.EnvFile, before))
	})
}
