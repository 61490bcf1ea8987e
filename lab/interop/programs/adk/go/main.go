// Peer program of ADK for Go.
//
//	main SCRIPT server      serves the scripted agent with adk-go's A2A executor (also own-server)
//	main SCRIPT run bare    runs scenarios with the scripted agent in a bare Runner
//	main SCRIPT run URL     runs scenarios with adk-go's remote agent
//
// `run` reads one scenario per line from stdin and prints one session report per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/remoteagent/v2"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/server/adka2a/v2"
	"google.golang.org/adk/v2/session"
)

func main() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	script := readScript(os.Args[1])
	if os.Args[2] == "server" || os.Args[2] == "own-server" {
		serve(script)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var next scenario
		must(json.Unmarshal(lines.Bytes(), &next))
		report, err := runScenario(next, createAgent(script, os.Args[3]), func() {
			printLine(map[string]any{"interruption": true})
			lines.Scan()
		})
		if err != nil {
			printLine(map[string]any{"error": err.Error()})
			continue
		}
		printLine(report)
	}
}

func createAgent(script *scriptedAgentFile, target string) agent.Agent {
	if target == "bare" {
		return createScriptedAgent(script)
	}
	remote, err := remoteagent.NewA2A(remoteagent.A2AConfig{
		Name:              "far",
		AgentCardProvider: remoteagent.NewAgentCardProvider(target),
	})
	must(err)
	return remote
}

// serve mounts the executor in the same way as the launcher of adk-go.
func serve(script *scriptedAgentFile) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	url := fmt.Sprintf("http://%s", listener.Addr())
	root := createScriptedAgent(script)
	card := &a2a.AgentCard{
		Name:               root.Name(),
		Description:        root.Description(),
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		SupportedInterfaces: []*a2a.AgentInterface{{
			URL:             url + "/invoke",
			ProtocolBinding: a2a.TransportProtocolJSONRPC,
			ProtocolVersion: a2a.Version,
		}},
		Version:      "2.0.0",
		Skills:       adka2a.BuildAgentSkills(root),
		Capabilities: a2a.AgentCapabilities{Streaming: true},
	}
	executor := adka2a.NewExecutor(adka2a.ExecutorConfig{RunnerConfig: runner.Config{
		AppName:         root.Name(),
		Agent:           root,
		SessionService:  session.InMemoryService(),
		ArtifactService: artifact.InMemoryService(),
	}})
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/invoke", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor)))
	printLine(map[string]any{"url": url})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	must(http.Serve(listener, mux))
}

func printLine(value any) {
	must(json.NewEncoder(os.Stdout).Encode(value))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var background = context.Background()
