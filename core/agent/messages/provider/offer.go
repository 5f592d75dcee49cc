package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
)

// Offer is a model of a server.
type Offer struct {
	Name string
	// Parameters is the size in the maker's words, "8.2B"; Bytes that of its file. Both may be missing.
	Parameters string
	Bytes      int64
	// Window is the largest context that the model can have, Loaded the one with which it runs now, in tokens. 0 means
	// that the server does not say.
	Window, Loaded int
	// Known means that the server says what the model can do.
	Known, Tools, Images, Thinks bool

	perToken int64 // bytes of memory for a token of context; 0 if unknown
	mute     bool  // it cannot chat
}

// Server is a server and what it offers.
type Server struct {
	Address string
	Product string // "Ollama", "LM Studio", "llama.cpp"; empty if unknown
	API     dialect.API
	// Models can chat: first those that can call tools, then those of which it is unknown. Mute are the names of the others.
	Models []Offer
	Mute   []string
}

const (
	// askedOne is how many models a server is asked about one by one, at most; askedAtOnce how many at the same time.
	askedOne    = 60
	askedAtOnce = 4
	// askPatience limits all questions to a server.
	askPatience = 10 * time.Second
	// usualWindow is the context that Ollama is asked for: it costs memory, and a conversation needs some. cautious is
	// assumed of servers that do not say with which context they load a model.
	usualWindow = 16_384
	cautious    = 4_096
	// mostKept is how many models beside the chosen one are written to the file.
	mostKept = 20
	// choicePatience is how long a list of choices waits for the servers.
	choicePatience = 2 * time.Second
	// tight is the window below which little more than the instructions fits.
	tight = 8_192
)

// Local looks for servers of models on this machine: Ollama at the address in OLLAMA_HOST or at its usual one, and LM
// Studio. It returns nil if none answers. A server elsewhere is asked only if it is in the user's network.
func Local(ctx context.Context, ollamaHost string) *Server {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for _, address := range []string{ollamaAddress(ollamaHost), "http://127.0.0.1:1234"} {
		p := Provider{BaseURL: address}
		if !p.nearby() || !answers(ctx, p) {
			continue
		}
		if s, err := Ask(ctx, p); err == nil && len(s.Models) > 0 {
			return &s
		}
	}
	return nil
}

// ollamaAddress returns the address for a value of OLLAMA_HOST, which is also where Ollama itself listens: any address
// of the machine means this one.
func ollamaAddress(host string) string {
	host = strings.TrimRight(host, "/")
	if strings.Contains(host, "://") {
		return host
	}
	name, port, _ := strings.Cut(host, ":")
	if name == "" || name == "0.0.0.0" {
		name = "127.0.0.1"
	}
	return "http://" + name + ":" + cmp.Or(port, "11434")
}

// answers reports whether something listens at once.
func answers(ctx context.Context, p Provider) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return get(ctx, p, "/v1/models", nil) == nil
}

// Ask asks a server which models it has, and what they can do as far as it says so. The error is a sentence.
func Ask(ctx context.Context, p Provider) (Server, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	s := Server{Address: p.BaseURL, API: p.API}
	var list []Offer
	var err error
	for _, ask := range []func(context.Context, Provider, *Server) ([]Offer, error){askOllama, askStudio, askOpenAI} {
		if list, err = ask(ctx, p, &s); err == nil {
			break
		}
	}
	if err != nil {
		return s, err
	}
	for _, o := range list {
		name := clean.Line(o.Name)
		switch {
		case name != o.Name || name == "" || strings.ContainsAny(name, " \"'#\\") || len(name) > 120: // not for a file of settings
		case o.mute:
			s.Mute = append(s.Mute, name)
		default:
			s.Models = append(s.Models, o)
		}
	}
	slices.SortStableFunc(s.Models, func(a, b Offer) int { return a.rank() - b.rank() })
	if len(s.Models) == 0 {
		return s, fmt.Errorf(textNoChat, p.BaseURL)
	}
	return s, nil
}

// rank orders models by what is known of their tools.
func (o Offer) rank() int {
	switch {
	case o.Tools:
		return 0
	case !o.Known:
		return 1
	}
	return 2
}

// mute are names of models that embed, rank, hear or draw, for servers that do not say so.
var mute = lazyregexp.New(`(?i)embed|rerank|whisper|\btts\b|moderation|dall-e|minilm|\b(bge|gte|e5)-|text-to-|stable-diffusion|flux`)

// askOllama asks Ollama: /api/tags, then /api/show about each model, and /api/ps about those that run.
func askOllama(ctx context.Context, p Provider, s *Server) ([]Offer, error) {
	var tags struct {
		Models []struct {
			Name    string `json:"name"`
			Size    int64  `json:"size"`
			Details struct {
				Parameters string `json:"parameter_size"`
			} `json:"details"`
		} `json:"models"`
	}
	if err := get(ctx, p, "/api/tags", &tags); err != nil {
		return nil, err
	}
	if tags.Models == nil {
		return nil, fmt.Errorf(textNoList, p.BaseURL, "/api/tags")
	}
	s.Product, s.API = "Ollama", dialect.Ollama
	list := make([]Offer, len(tags.Models))
	for i, m := range tags.Models {
		list[i] = Offer{Name: m.Name, Bytes: m.Size, Parameters: clean.Cut(clean.Line(m.Details.Parameters), 12), mute: mute().MatchString(m.Name)}
	}
	var each errgroup.Group
	each.SetLimit(askedAtOnce)
	for i := range list[:min(len(list), askedOne)] {
		each.Go(func() error { list[i].show(ctx, p); return nil })
	}
	_ = each.Wait() // none returns an error: what is not known is left out
	var running struct {
		Models []struct {
			Name   string `json:"name"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	if get(ctx, p, "/api/ps", &running) == nil {
		for i := range list {
			for _, r := range running.Models {
				if r.Name == list[i].Name {
					list[i].Loaded = r.Window
				}
			}
		}
	}
	return list, nil
}

// show fills in what /api/show says of a model.
func (o *Offer) show(ctx context.Context, p Provider) {
	var said struct {
		Can  []string                   `json:"capabilities"`
		Info map[string]json.RawMessage `json:"model_info"`
	}
	body, err := json.Marshal(map[string]string{"model": o.Name})
	if err != nil || ask(ctx, p, "/api/show", body, &said) != nil {
		return
	}
	if o.Known = len(said.Can) > 0; o.Known {
		can := func(what string) bool { return slices.Contains(said.Can, what) }
		o.Tools, o.Images, o.Thinks, o.mute = can("tools"), can("vision"), can("thinking"), !can("completion")
	}
	number := func(name string) (n int64) {
		var family string
		_ = json.Unmarshal(said.Info["general.architecture"], &family) // a missing one stays empty
		_ = json.Unmarshal(said.Info[family+"."+name], &n)             // and so does a list
		return n
	}
	o.Window = int(number("context_length"))
	heads, length := number("attention.head_count_kv"), number("attention.key_length")
	if all := number("attention.head_count"); length == 0 && all > 0 {
		length = number("embedding_length") / all
	}
	const keysAndValues, bytesEach = 2, 2
	o.perToken = keysAndValues * bytesEach * number("block_count") * heads * length
}

// askStudio asks LM Studio, whose own list says more than that of OpenAI's interface.
func askStudio(ctx context.Context, p Provider, s *Server) ([]Offer, error) {
	var said struct {
		Data []struct {
			ID     string   `json:"id"`
			Type   string   `json:"type"`
			Window int      `json:"max_context_length"`
			Loaded int      `json:"loaded_context_length"`
			Can    []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := get(ctx, p, "/api/v0/models", &said); err != nil {
		return nil, err
	}
	if said.Data == nil {
		return nil, fmt.Errorf(textNoList, p.BaseURL, "/api/v0/models")
	}
	s.Product, s.API = "LM Studio", dialect.OpenAI
	list := make([]Offer, len(said.Data))
	for i, m := range said.Data {
		list[i] = Offer{
			Name: m.ID, Window: m.Window, Loaded: m.Loaded, Known: m.Can != nil, Tools: slices.Contains(m.Can, "tool_use"),
			Images: m.Type == "vlm", mute: m.Type == "embeddings" || mute().MatchString(m.ID),
		}
	}
	return list, nil
}

// askOpenAI reads the list of OpenAI's interface, with the fields that vLLM, llama.cpp and OpenRouter add.
func askOpenAI(ctx context.Context, p Provider, s *Server) ([]Offer, error) {
	var said struct {
		Data []struct {
			ID    string   `json:"id"`
			Owner string   `json:"owned_by"`
			VLLM  int      `json:"max_model_len"`
			Far   int      `json:"context_length"`
			Can   []string `json:"supported_parameters"`
			Form  struct {
				Input []string `json:"input_modalities"`
			} `json:"architecture"`
			Meta struct {
				Trained int   `json:"n_ctx_train"`
				Bytes   int64 `json:"size"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := get(ctx, p, strings.TrimPrefix(dialect.Under(p.BaseURL, "/models"), p.BaseURL), &said); err != nil {
		return nil, err
	}
	if said.Data == nil {
		return nil, fmt.Errorf(textNoList, p.BaseURL, "/v1/models")
	}
	list := make([]Offer, len(said.Data))
	for i, m := range said.Data {
		list[i] = Offer{
			Name: m.ID, Window: cmp.Or(m.VLLM, m.Far, m.Meta.Trained), Loaded: cmp.Or(m.VLLM, m.Far), Bytes: m.Meta.Bytes,
			Known: m.Can != nil, Tools: slices.Contains(m.Can, "tools"), Thinks: slices.Contains(m.Can, "reasoning"),
			Images: slices.Contains(m.Form.Input, "image"), mute: mute().MatchString(m.ID),
		}
		if m.Owner == "llamacpp" {
			s.Product = "llama.cpp"
			list[i].Loaded = slots(ctx, p)
		}
	}
	return list, nil
}

// slots returns the context that llama.cpp has for each conversation, or 0.
func slots(ctx context.Context, p Provider) int {
	var said struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if get(ctx, p, "/props", &said) != nil {
		return 0
	}
	return said.Settings.Window
}

// String describes the model in a few words.
func (o Offer) String() string {
	var list []string
	add := func(text string, is bool) {
		if is {
			list = append(list, text)
		}
	}
	add(o.Parameters, o.Parameters != "")
	add(words.Memory(o.Bytes), o.Bytes > 0)
	add(fmt.Sprintf(textTokens, tokens(o.Window)), o.Window > 0)
	add(fmt.Sprintf(textRunsWith, tokens(o.Loaded)), o.Loaded > 0 && o.Loaded != o.Window)
	add(textTools, o.Tools)
	add(textNoTools, o.Known && !o.Tools)
	add(textMaybe, !o.Known)
	add(textImages, o.Images)
	add(textThinks, o.Thinks)
	return strings.Join(list, ", ")
}

// tokens writes a number of tokens.
func tokens(n int) string { return words.Thousands(uint64(max(0, n))) }

// window returns the context to use a model with: what is asked for, or what the server has.
func (o Offer) window(api dialect.API) int {
	if api == dialect.Ollama {
		return min(usualWindow, cmp.Or(o.Window, usualWindow))
	}
	return cmp.Or(o.Loaded, min(cautious, cmp.Or(o.Window, cautious)))
}

// Meaning says what the choice of a model means: its context, and what that costs.
func (s Server) Meaning(o Offer) string { return s.meaning(o, o.window(s.API)) }

func (s Server) meaning(o Offer, window int) string {
	shown := tokens(window)
	text := fmt.Sprintf(textAskedFor, o.Name, shown)
	if s.API == dialect.Ollama {
		text = fmt.Sprintf(textRun, o.Name, shown)
		if o.perToken > 0 {
			text = fmt.Sprintf(textMemory, o.Name, shown, words.Memory(o.perToken*int64(window)))
		}
	}
	if window < tight {
		text += ": " + textTight
	}
	if o.Known && !o.Tools {
		text += textLessTools
	}
	return text + "."
}

// Choice is a model that can be asked for, what is known of it, in a few words, and what the choice means, in a sentence.
type Choice struct{ Name, About, Means string }

// Choices returns the models of all providers, in their order: of each those first that call tools, without those that cannot
// chat. Servers in the user's network are asked about theirs, for a moment; of the others, Choices says what the file does.
func (r *Registry) Choices(ctx context.Context) (list []Choice) {
	ctx, cancel := context.WithTimeout(ctx, choicePatience)
	defer cancel()
	all := r.Providers()
	servers := make([]Server, len(all))
	var each errgroup.Group
	for i, p := range all {
		if p.Name != Anthropic && p.nearby() {
			each.Go(func() error { servers[i], _ = Ask(ctx, p); return nil })
		}
	}
	_ = each.Wait() // none returns an error: what a server does not say is left out
	for i, p := range all {
		servers[i].API = p.API
		var ranked [3][]Choice
		for _, m := range p.Models {
			if p.Name != Anthropic && (mute().MatchString(m.Name) || slices.Contains(servers[i].Mute, m.Name)) {
				continue
			}
			o, found := servers[i].offer(m.Name)
			switch {
			case !found:
				o = Offer{Window: m.Window, Known: true, Tools: !m.NoTools, Images: m.Images, Thinks: m.Thinking.Style != NoThinking}
			case p.API == dialect.Ollama:
				o.Loaded = m.Window // it is asked for
			}
			o.Name = shownName(m)
			ranked[o.rank()] = append(ranked[o.rank()], Choice{o.Name, o.String(), servers[i].meaning(o, m.Window)})
		}
		list = slices.Concat(list, slices.Concat(ranked[:]...))
	}
	return list
}

// offer finds a model by the name in the file.
func (s Server) offer(name string) (Offer, bool) {
	i := slices.IndexFunc(s.Models, func(o Offer) bool { return o.Name == name || o.Name == name+":latest" })
	if i < 0 {
		return Offer{}, false
	}
	return s.Models[i], true
}

// YAML returns an entry for providers.yaml with the server's models; the chosen one comes first.
func (s Server) YAML(chosen Offer) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Servers of models. All keys: ollim-bot help connect-a-model\nlocal:\n  base-url: %s\n", s.Address)
	if s.API.Translated() {
		fmt.Fprintf(&b, "  api: %s\n", s.API)
	}
	b.WriteString("  models:\n")
	rest := slices.DeleteFunc(slices.Clone(s.Models), func(o Offer) bool { return o.Name == chosen.Name })
	for _, o := range slices.Insert(rest[:min(len(rest), mostKept)], 0, chosen) {
		fmt.Fprintf(&b, "    - name: %q\n      window: %d\n", o.Name, o.window(s.API))
		for _, key := range []struct {
			text string
			is   bool
		}{{"tools: false", o.Known && !o.Tools}, {"images: true", o.Images}, {"thinking: budget", o.Thinks && s.API == dialect.Ollama}} {
			if key.is {
				b.WriteString("      " + key.text + "\n")
			}
		}
	}
	return b.Bytes()
}

// Compare returns what is wrong with the file's models of this server, in sentences: models that it does not have, and
// windows that are larger than its own.
func (s Server) Compare(p Provider) (warnings []string) {
	if p.Name == Anthropic {
		return nil // its list is not the user's
	}
	for _, m := range p.Models {
		o, found := s.offer(m.Name)
		if !found {
			warnings = append(warnings, fmt.Sprintf(textMissing, m.Name))
			continue
		}
		has := o.Loaded
		if p.API == dialect.Ollama {
			has = o.Window // it runs with the context that is asked for
		}
		if has > 0 && m.Window > has {
			warnings = append(warnings, fmt.Sprintf(textWide, m.Name, tokens(m.Window), tokens(has)))
		}
		if o.Known && !o.Tools && !m.NoTools {
			warnings = append(warnings, fmt.Sprintf(textHasNoTools, m.Name))
		}
	}
	return warnings
}
