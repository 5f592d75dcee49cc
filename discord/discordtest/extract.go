//go:build ignore

// This program writes openapi.json: of Discord's description of its API, what the fake's routes need. The description is
// specs/openapi.json of github.com/discord/discord-api-spec; the extract was made of its commit 74fda0f of 2026-07-18.
//
//	go run extract.go < specs/openapi.json > openapi.json
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

type object = map[string]any

// prose are the properties that check nothing.
var prose = []string{"deprecated", "description", "examples", "externalDocs", "headers", "operationId", "security", "summary", "tags", "title"}

// bare is a part of the description without its prose. In a part with names, keys are names of its author.
func bare(part any, names bool) any {
	switch part := part.(type) {
	case object:
		out := object{}
		for key, value := range part {
			if names || !slices.Contains(prose, key) && !strings.HasPrefix(key, "x-") {
				out[key] = bare(value, key == "properties" && !names)
			}
		}
		return out
	case []any:
		for i := range part {
			part[i] = bare(part[i], false)
		}
	}
	return part
}

// routes are the method and the path of each row of the table in rest.go.
func routes() [][]string {
	code, err := os.ReadFile("rest.go")
	if err != nil {
		log.Fatal(err)
	}
	return regexp.MustCompile(`method: "(\w+)", segments: "([^"]+)"`).FindAllStringSubmatch(string(code), -1)
}

// serves reports whether a path of the description is one of the route's, in which a star is any segment.
func serves(segments, path string) bool {
	want, has := strings.Split(segments, "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	return slices.EqualFunc(want, has, func(w, h string) bool { return w == h || w == "*" })
}

func main() {
	var whole object
	if err := json.NewDecoder(os.Stdin).Decode(&whole); err != nil {
		log.Fatal(err)
	}
	paths, parts := object{}, map[string]object{}
	for path, item := range whole["paths"].(object) {
		kept := object{}
		for _, route := range routes() {
			method := strings.ToLower(route[1])
			if serves(route[2], path) && item.(object)[method] != nil {
				kept[method] = bare(item.(object)[method], false)
				if shared := item.(object)["parameters"]; shared != nil {
					kept["parameters"] = bare(shared, false)
				}
			}
		}
		if len(kept) > 0 {
			paths[path] = kept
		}
	}
	var follow func(part any)
	follow = func(part any) {
		text, _ := json.Marshal(part)
		for _, ref := range regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			kind, name := ref[1], ref[2]
			if parts[kind] == nil {
				parts[kind] = object{}
			}
			if parts[kind][name] == nil {
				parts[kind][name] = bare(whole["components"].(object)[kind].(object)[name], false)
				follow(parts[kind][name])
			}
		}
	}
	follow(paths)

	// Each path and each schema has a line, so that a newer version can be compared.
	lines := func(of object) string {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			value, _ := json.Marshal(of[name])
			list = append(list, fmt.Sprintf("%q: %s", name, value))
		}
		return "{\n" + strings.Join(list, ",\n") + "\n}"
	}
	info, _ := json.Marshal(whole["info"])
	fmt.Printf("{\n\"openapi\": %q,\n\"info\": %s,\n\"paths\": %s,\n\"components\": {\n\"responses\": %s,\n\"schemas\": %s\n}\n}\n",
		whole["openapi"], info, lines(paths), lines(parts["responses"]), lines(parts["schemas"]))
}
