package discordtest_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// rewrite sends every request to the fake, whatever host it names.
type rewrite struct{ base *url.URL }

func (r rewrite) RoundTrip(in *http.Request) (*http.Response, error) {
	out := in.Clone(in.Context())
	out.URL.Scheme, out.URL.Host = r.base.Scheme, r.base.Host
	return http.DefaultTransport.RoundTrip(out)
}

// bot is a discordgo session that greets, answers "ping" and clicks.
func bot(t *testing.T, s *discordtest.Server) *discordgo.Session {
	t.Helper()
	base, err := url.Parse(s.URL())
	testkit.Must(t, err)
	d, err := discordgo.New("Bot token")
	testkit.Must(t, err)
	d.Client = &http.Client{Transport: rewrite{base}, Timeout: 20 * time.Second}
	d.Identify.Intents = dmIntents
	d.SyncEvents = true
	return d
}

func TestABotOnDiscordgoLivesThroughADay(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Heartbeat: 5 * time.Second, AnyPresence: true})
	d := bot(t, s)
	mute := &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
	d.AddHandler(func(d *discordgo.Session, m *discordgo.MessageCreate) {
		if m.Author.ID == s.Bot().ID {
			return
		}
		sent, err := d.ChannelMessageSendComplex(m.ChannelID, &discordgo.MessageSend{
			Content: "pon", AllowedMentions: mute,
		})
		if err != nil {
			t.Error(err)
			return
		}
		text := "pong"
		if _, err := d.ChannelMessageEditComplex(&discordgo.MessageEdit{
			Channel: m.ChannelID, ID: sent.ID, Content: &text, AllowedMentions: mute,
		}); err != nil {
			t.Error(err)
		}
		if err := d.MessageReactionAdd(m.ChannelID, m.ID, "👀"); err != nil {
			t.Error(err)
		}
	})
	d.AddHandler(func(d *discordgo.Session, i *discordgo.InteractionCreate) {
		if err := d.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
			Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		}); err != nil {
			t.Error(err)
		}
		text := "$3"
		if _, err := d.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{Content: &text, AllowedMentions: mute}); err != nil {
			t.Error(err)
		}
	})
	testkit.Must(t, d.Open())
	defer d.Close()
	if _, err := d.ApplicationCommandBulkOverwrite(s.Bot().ID, "", []*discordgo.ApplicationCommand{
		{Name: "cost", Description: "what it has cost"},
	}); err != nil {
		t.Fatal(err)
	}
	channel, err := d.UserChannelCreate(s.Owner().ID)
	testkit.Must(t, err)
	if _, err := d.ChannelMessageSendComplex(channel.ID, &discordgo.MessageSend{Content: "hello", AllowedMentions: mute}); err != nil {
		t.Fatal(err)
	}

	m := s.User().Say("ping")
	st := s.Wait(t, "the answer", func(st discordtest.State) bool {
		return st.Said(s.Bot(), "pong") && len(st.Message(m.ID).Reactions) == 1
	})
	answer := st.Sent(s.Bot())[1]
	if answer.Content != "pong" {
		t.Errorf("the answer is %+v", answer)
	}
	s.User().Slash("cost")
	s.Wait(t, "the cost", func(st discordtest.State) bool { return st.Said(s.Bot(), "$3") })

	s.DropSocket()
	s.User().Say("are you there?")
	s.Wait(t, "an answer after the resume", func(st discordtest.State) bool {
		return len(st.Resumes) == 1 && st.Resumes[0].Accepted && len(st.Sent(s.Bot())) == 4
	})
	s.Wait(t, "a heartbeat", func(st discordtest.State) bool { return st.Up() && st.Connections[1].Heartbeats > 0 })
}
