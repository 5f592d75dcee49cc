package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/service"
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/config"
	"ollimbot/routines/schedule"
)

type serviceCmds struct {
	Install   serviceInstallCmd   `cmd:""`
	Uninstall serviceUninstallCmd `cmd:""`
	Status    serviceStatusCmd    `cmd:""`
	Logs      serviceLogsCmd      `cmd:""`
}

type serviceInstallCmd struct {
	DryRun  bool     `name:"dry-run" help:"Show what would be written and run, and change nothing."`
	Replace bool     `help:"Replace a file that was edited by hand; yours is kept next to it."`
	Args    []string `arg:"" optional:"" passthrough:"" help:"Flags of run that the service starts with, such as: -- --engine script."`
}

// Run writes the service's file and starts the bot.
func (c *serviceInstallCmd) Run(p *process, at console.DataDir) error {
	if len(c.Args) > 0 && c.Args[0] == "--" {
		c.Args = c.Args[1:]
	}
	return p.withService(at, c.Args, func(ctx context.Context, s *service.Service) error {
		if exe, err := service.Program(); err != nil || service.Temporary(exe) {
			return errors.Join(err, fmt.Errorf(textTemporary, exe))
		}
		if err := at.Dir.Writable(); err != nil {
			return err
		}
		if err := p.shellOnly(at); err != nil {
			return err
		}
		return s.Install(ctx, c.DryRun, c.Replace)
	})
}

type serviceUninstallCmd struct {
	DryRun bool `name:"dry-run" help:"Show what would be run and removed, and change nothing."`
}

// Run stops the bot and removes the service's file.
func (c *serviceUninstallCmd) Run(p *process, at console.DataDir) error {
	return p.withService(at, nil, func(ctx context.Context, s *service.Service) error { return s.Uninstall(ctx, c.DryRun) })
}

type serviceStatusCmd struct {
	console.AsJSON
}

// Run prints the state of the service; a service that is not running is a failure.
func (c *serviceStatusCmd) Run(p *process, at console.DataDir) error {
	out := p.Out
	if c.JSON {
		p.Out = io.Discard
	}
	return p.withService(at, nil, func(ctx context.Context, s *service.Service) error {
		now, err := s.Status(ctx)
		if p.Out = out; err != nil {
			return err
		}
		if c.JSON {
			err = p.JSON(now)
		}
		if err == nil && !now.Running {
			err = console.ErrSilent
		}
		return err
	})
}

type serviceLogsCmd struct {
	N      int  `name:"number" aliases:"lines" short:"n" default:"50" placeholder:"N" help:"How many lines, at most 10000."`
	Follow bool `short:"f" help:"Keep printing until you interrupt it."`
}

// Run prints the log of the service.
func (c *serviceLogsCmd) Run(p *process, at console.DataDir) error {
	if c.N < 1 || c.N > 10000 {
		return console.Usagef(textBadCount, c.N)
	}
	return p.withService(at, nil, func(ctx context.Context, s *service.Service) error { return s.Logs(ctx, c.N, c.Follow) })
}

// withService calls do with the service of the data directory.
func (p *process) withService(at console.DataDir, args []string, do func(context.Context, *service.Service) error) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	ctx, stop := p.Context()
	defer stop()
	exe, err := service.Program()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home directory: %w", err)
	}
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("find out who you are: %w", err)
	}
	commands := service.Commands{Getenv: p.Getenv, Out: p.Out, Err: p.Err}
	s, err := service.New(ctx, service.Options{
		System: runtime.GOOS, Exe: exe, Args: args, Dir: at.Dir.Root(), Main: at.Dir.Root() == filepath.Join(home, ".ollim-bot"),
		Home: home, User: me.Username, UID: os.Getuid(), Getenv: p.Getenv, Running: at.Dir.Running, Out: p.Out, Root: "/",
		Run: commands.Run, Show: commands.Show,
	})
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// shellOnly warns of variables that are set only in this shell.
func (p *process) shellOnly(at console.DataDir) error {
	alone, _, err := config.LoadEnv(func(string) string { return "" }, config.Flags{DataDir: at.Dir.Root()})
	if err != nil {
		return err
	}
	filed := alone.Secrets(nil)
	for _, e := range p.Environ() {
		name, value, _ := strings.Cut(e, "=")
		ours := slices.ContainsFunc([]string{"DISCORD_TOKEN", "OLLIM_", "WEBHOOK_", "ANTHROPIC_", "CLAUDE_CODE_OAUTH"}, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if ours && value != "" && name != "OLLIM_DATA_DIR" && !slices.Contains(filed, value) {
			p.Print(textShellOnly, name, at.Dir.Display()+"/"+config.EnvFile)
		}
	}
	return nil
}

// lastPatience is how long a stopping bot may take before it is cut off. All its own waits
// are shorter, and a supervisor's is a little longer. No stored data is harmed.
const lastPatience = 9500 * time.Millisecond

// inTime ends the program if it has not stopped within lastPatience after ctx ended. Call
// ended when it has stopped.
func inTime(ctx context.Context, log *slog.Logger) (ended func()) {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(lastPatience):
			log.Error("the bot did not stop in time and is cut off; stored data is intact")
			os.Exit(exitFailed)
		}
	})
	return func() { close(done) }
}

// tend keeps a supervisor informed of a bot without a dashboard, and reads the
// settings again on SIGHUP.
func (p *process) tend(ctx context.Context, bot *core.Bot, log *slog.Logger, at console.DataDir, again func() bool) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	return service.Tend(ctx, service.Bot{
		Alive: bot.Alive, Again: again, Log: log,
		Status: func() string { return statusWords(bot.Snapshot()) },
		Reload: func() {
			bot.Reload()
			log.Info("settings reloaded")
			p.unread(at, log)
		},
	}, hangup)
}

// unread warns if .env has changed, because changes apply at the next start.
func (p *process) unread(at console.DataDir, log *slog.Logger) {
	now, _, err := config.LoadEnv(p.Getenv, config.Flags{DataDir: p.Flags.DataDir, Timezone: p.Flags.Timezone})
	if err != nil {
		log.Warn(".env was not read", "error", err)
		return
	}
	was := at.Env
	changed := was.ZoneName != now.ZoneName || was.UserName != now.UserName || was.BotName != now.BotName || was.OwnerID != now.OwnerID ||
		was.WebhookPort != now.WebhookPort || was.DiscordAPI != now.DiscordAPI || !slices.Equal(was.Secrets(nil), now.Secrets(nil))
	if changed {
		log.Warn(".env has changed; restart the bot to apply it")
	}
}

// statusWords describe the bot in a line for its supervisor. Titles of tasks are private
// and stay out of the system log.
func statusWords(s core.Snapshot) string {
	text := fmt.Sprintf("%s, %s", words.Count(s.Routines, "routine"), words.Count(s.Reminders, "reminder"))
	next := func(e schedule.Entry) bool { return !e.Held && e.FireTime.After(s.At) }
	if i := slices.IndexFunc(s.Schedule.Day, next); i >= 0 {
		text += ", next " + s.Schedule.Day[i].FireTime.Format("Mon 15:04")
	}
	if !s.Engine.OK {
		text += "; " + s.Engine.State
	}
	return text
}
