package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/discord"
)

type initCmd struct {
	Hello   bool `help:"Let the bot write you one message in Discord, without asking: the only proof that it can reach you."`
	Offline bool `help:"Write down the token without asking Discord about it."`
	Wait    bool `help:"Wait for enter at the end, as the dashboard wants it that begins this."`
}

// Words of the walk.
const (
	textInitIntro = "This asks four questions and writes the answers to %s, for your eyes only.\n" +
		"Enter keeps what stands in brackets.\n"
	textAskUser  = "What is your name? [%s] "
	textAskBot   = "What is the bot's name? [%s] "
	textAskZone  = "Your time zone? [%s] "
	textAskToken = "Discord token? [%s] "
	textHowToken = "\nFor Discord the bot needs a token of its own. Without one the dashboard is where you talk to it.\n" +
		"  1. Open https://discord.com/developers/applications and click New Application; give it the bot's name.\n" +
		"  2. Installation: tick User Install and Guild Install, Save Changes.\n" +
		"  3. Bot: click Reset Token, then Copy. No privileged intent is needed.\n"
	textAskHello     = "May the bot write you a hello in Discord now? Only that proves that it can reach you. [yes] "
	textTokenKept    = "keep the one that is set"
	textTokenNone    = "none"
	textBadZone      = "%q is no time zone: write one such as Europe/Berlin"
	textBadToken     = "that is no token: copy it whole, in one line"
	textTokenRefused = "the token was not written down: get a new one and run ollim-bot init again"
	textUnchecked    = "the token was written down unchecked: run ollim-bot doctor when Discord can be reached"
	textTokenAgain   = "That token is of no use; the other answers are kept.\n"
	textInvite       = "Add the bot to a private server of yours, which lets it write to you:\n  %s\n"
	textInstall      = "Install its commands for yourself (in the page that opens: Add to My Apps):\n  %s\n"
	textHelloAgain   = "When that is done, run ollim-bot init --hello: it writes to you, or says what is missing.\n"
	textWritten      = "Written to %s."
	textStart        = " Start the bot with: %s\n"
	textRestart      = "The running bot reads it at its next start.\n"
	textEnvWins      = "Careful: %s is also set in the environment, which goes before the file.\n"
	textInitEnter    = "Enter goes on to the dashboard. "
	textAskOllama    = "Ollama answers at %s, with %s. May the bot think with it? [yes] "
	textThinksBoth   = "The bot thinks with the claude command (%s). %[2]s is there too: /config fallback %[2]s lets it answer while Claude is out of reach.\n"
	textThinksClaude = "The bot thinks with the claude command (%s).\n"
	textThinksModel  = "The bot thinks with %s (%s).\n"
	textThinksNobody = "Nobody thinks for the bot yet: install the claude command, put ANTHROPIC_API_KEY into .env, or start Ollama; " +
		"until then a script answers.\n"
	textByHand = "%s could not be changed safely: put %s into it by hand"
)

// Run walks through the questions. With Wait what was said at the end can be
// read before the dashboard covers it.
func (c *initCmd) Run(p *process) error {
	q := &questions{p: p, in: bufio.NewReader(p.in)}
	err := c.walk(p, q)
	if !c.Wait {
		return err
	}
	if err != nil {
		tell(p.err, "%v", err)
		err = errSilent
	}
	if e := p.printf(textInitEnter); e != nil {
		return e
	}
	_, e := q.in.ReadString('\n')
	if e != nil && !errors.Is(e, io.EOF) {
		return fmt.Errorf("read from the terminal: %w", e)
	}
	return err
}

// walk asks for names, zone and token, checks the token against Discord and
// writes .env. Whatever else stands there stays. It can be run again and again,
// and from a pipe, one answer a line.
func (c *initCmd) walk(p *process, q *questions) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	path := at.dir.Display() + "/" + config.EnvFile
	if err := p.printf(textInitIntro, path); err != nil {
		return err
	}
	user, bot, zone, err := q.aboutYou(at)
	if err != nil {
		return err
	}
	token, wrong, err := c.working(p, q, at)
	if err != nil {
		return err
	}
	if err := at.dir.Prepare(); err != nil {
		return err
	}
	if err := config.SetNames(at.dir, user, bot); err != nil {
		return err
	}
	if err := writeVariables(at, zone, token); err != nil {
		return err
	}
	if err := q.whoAnswers(at); err != nil {
		return err
	}
	return c.finish(p, at, wrong)
}

// whoAnswers looks for what the bot can think with on this machine, and offers what
// the user need only agree to.
func (q *questions) whoAnswers(at dataDir) error {
	providers := q.p.providers(at)
	models := provider.Ollama(context.Background(), q.p.getenv("OLLAMA_HOST"))
	_, err := at.dir.Read(provider.File)
	if models != nil && len(models.Names) > 0 && errors.Is(err, fs.ErrNotExist) {
		said, err := q.ask(fmt.Sprintf(textAskOllama, models.Address, clean.Cut(strings.Join(models.Names, ", "), 200)), "yes", anyAnswer)
		if err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToLower(said), "y") {
			if err := at.dir.Write(provider.File, models.YAML()); err != nil {
				return err
			}
		}
	}
	path, err := claudeproc.Find(q.p.engineEnv(at))
	list := providers.Providers()
	switch {
	case err == nil && len(list) > 0:
		return q.p.printf(textThinksBoth, path, list[0].Models[0].FullName())
	case err == nil:
		return q.p.printf(textThinksClaude, path)
	case len(list) > 0:
		return q.p.printf(textThinksModel, list[0].Models[0].FullName(), list[0].BaseURL)
	}
	return q.p.printf(textThinksNobody)
}

// working asks for a token until Discord takes one, or cannot be asked; from a
// pipe once. wrong is what is to be said at the end, or nil. A token that is
// refused is not worth writing down.
func (c *initCmd) working(p *process, q *questions, at dataDir) (token config.Secret, wrong, err error) {
	for asked := c.Hello; ; {
		if token, err = q.token(at); token == "" || err != nil || c.Offline {
			return token, nil, err
		}
		if p.terminal() && !asked {
			asked = true
			said, err := q.ask(textAskHello, "yes", anyAnswer)
			if err != nil {
				return "", nil, err
			}
			c.Hello = strings.HasPrefix(strings.ToLower(said), "y")
		}
		r, err := c.check(p, at, token)
		switch {
		case err != nil:
			return "", nil, err
		case r.Unasked && r.BotName == "":
			return token, errors.New(textUnchecked), nil
		case !r.Refused:
			return token, nil, nil
		case !p.terminal():
			return "", errors.New(textTokenRefused), nil
		}
		at.env.DiscordToken = "" // enter must not bring the refused one back
		if err := p.printf(textTokenAgain); err != nil {
			return "", nil, err
		}
	}
}

// finish says what to do next.
func (c *initCmd) finish(p *process, at dataDir, wrong error) error {
	for _, name := range []string{"OLLIM_USER_NAME", "OLLIM_BOT_NAME", "OLLIM_TIMEZONE", "DISCORD_TOKEN"} {
		if p.getenv(name) != "" {
			if err := p.printf(textEnvWins, name); err != nil {
				return err
			}
		}
	}
	if err := p.printf(textWritten, at.dir.Display()+"/"+config.EnvFile); err != nil {
		return err
	}
	if err := c.whatNext(p, at); err != nil {
		return err
	}
	return wrong
}

// whatNext says how what was written takes effect. A dashboard that waits sees to
// that itself.
func (c *initCmd) whatNext(p *process, at dataDir) error {
	if c.Wait {
		return p.printf("\n")
	}
	if err := p.printf(textStart, p.runCommand(at)); err != nil {
		return err
	}
	if _, running := at.dir.Running(); running {
		return p.printf(textRestart)
	}
	return nil
}

// runCommand is what starts the bot on the directory, as a shell takes it.
func (p *process) runCommand(at dataDir) string {
	if p.flags.DataDir == "" {
		return "ollim-bot run"
	}
	return "ollim-bot run --data-dir " + shellWord(at.dir.Root())
}

// check asks Discord about the token and prints what it says.
func (c *initCmd) check(p *process, at dataDir, token config.Secret) (discord.Report, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := discord.Check(ctx, discord.CheckOptions{
		Token: token, API: at.env.DiscordAPI, OwnerID: at.env.OwnerID, Version: version, Hello: c.Hello,
	})
	if err != nil {
		return r, err
	}
	for _, f := range r.Findings {
		mark := "ok  "
		if !f.OK {
			mark = "!   "
		}
		line := mark + f.Text + "\n"
		if f.Next != "" {
			line += "    -> " + f.Next + "\n"
		}
		if err := p.printf("%s", line); err != nil {
			return r, err
		}
	}
	var links string
	if r.InstallLink != "" {
		links += fmt.Sprintf(textInvite, r.InstallLink)
	}
	if r.UserLink != "" {
		links += fmt.Sprintf(textInstall, r.UserLink)
	}
	if r.BotName != "" && (!c.Hello || !r.OK()) {
		links += textHelloAgain
	}
	return r, p.printf("%s", links)
}

// questions are asked one after the other. From a terminal a wrong answer is
// asked for again, from a pipe it is an error.
type questions struct {
	p  *process
	in *bufio.Reader
}

func (q *questions) aboutYou(at dataDir) (user, bot, zone string, err error) {
	if user, err = q.ask(fmt.Sprintf(textAskUser, at.env.UserName), at.env.UserName, anyAnswer); err != nil {
		return "", "", "", err
	}
	if bot, err = q.ask(fmt.Sprintf(textAskBot, at.env.BotName), at.env.BotName, anyAnswer); err != nil {
		return "", "", "", err
	}
	zone, err = q.ask(fmt.Sprintf(textAskZone, at.env.ZoneName), at.env.ZoneName, zoneAnswer)
	return user, bot, zone, err
}

func anyAnswer(string) error { return nil }

func zoneAnswer(name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return fmt.Errorf(textBadZone, name)
	}
	return nil
}

// tokenAnswer is about the form alone; empty keeps what is set.
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
func (q *questions) token(at dataDir) (config.Secret, error) {
	shown := textTokenNone
	if at.env.DiscordToken != "" {
		shown = textTokenKept
	} else if err := q.p.printf(textHowToken); err != nil {
		return "", err
	}
	answer, err := q.repeat(fmt.Sprintf(textAskToken, shown), q.hidden, tokenAnswer)
	if answer == "" {
		return at.env.DiscordToken, err
	}
	return config.Secret(discord.BareToken(answer)), err
}

func (q *questions) ask(question, otherwise string, check func(string) error) (string, error) {
	return q.repeat(question, q.line, func(answer string) error {
		return check(cmp.Or(answer, otherwise))
	}, otherwise)
}

// repeat asks until the answer passes; nothing at all means otherwise.
func (q *questions) repeat(question string, read func() (string, error), check func(string) error, otherwise ...string) (string, error) {
	for {
		if err := q.p.printf("%s", question); err != nil {
			return "", err
		}
		answer, err := read()
		if err != nil {
			return "", err
		}
		wrong := check(answer)
		if wrong == nil {
			return cmp.Or(answer, strings.Join(otherwise, "")), nil
		}
		if !q.p.terminal() {
			return "", wrong
		}
		if err := q.p.printf("%v\n", wrong); err != nil {
			return "", err
		}
	}
}

// line reads one answer; the end of the input is the answer that nothing is.
func (q *questions) line() (string, error) {
	s, err := q.in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = q.p.printf("\n")
	} else if err == nil && !q.p.terminal() {
		err = q.p.printf("\n") // nobody has pressed enter
	}
	return strings.TrimSpace(s), err
}

// hidden reads one answer that must not stand on the screen.
func (q *questions) hidden() (string, error) {
	f, ok := q.p.in.(*os.File)
	if !ok || !q.p.terminal() {
		return q.line()
	}
	data, err := term.ReadPassword(f.Fd())
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return strings.TrimSpace(string(data)), q.p.printf("\n")
}

// writeVariables puts the zone and the token into .env, and leaves every other
// line as it is. What was written is read back; where that is something else,
// the file becomes what it was.
func writeVariables(at dataDir, zone string, token config.Secret) error {
	names := "OLLIM_TIMEZONE=" + zone
	return at.dir.WithLock("env", func() error {
		before, err := at.dir.Read(config.EnvFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", config.EnvFile, err)
		}
		data := config.SetVariable(before, "OLLIM_TIMEZONE", zone)
		if token != "" && token != at.env.DiscordToken {
			names += " and DISCORD_TOKEN"
			data = config.SetVariable(data, "DISCORD_TOKEN", token.Reveal())
		}
		if bytes.Equal(data, before) {
			return nil
		}
		if err := at.dir.Write(config.EnvFile, data); err != nil {
			return err
		}
		env, _, err := config.LoadEnv(func(string) string { return "" }, config.Flags{DataDir: at.dir.Root()})
		inEnv := strings.Contains(names, "DISCORD_TOKEN")
		if err == nil && env.ZoneName == zone && (!inEnv || env.DiscordToken == token) {
			return nil
		}
		wrong := fmt.Errorf(textByHand, at.dir.Display()+"/"+config.EnvFile, names)
		return errors.Join(wrong, at.dir.Write(config.EnvFile, before))
	})
}
