// The last agent of the trace test: the official Go SDK behind otelhttp, the instrumentation of OpenTelemetry. The program
// prints its URL as one JSON line once it listens, and exits when its standard input closes. The collector is the one of
// the variable OTEL_EXPORTER_OTLP_ENDPOINT.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

type echo struct{}

func (echo) Execute(_ context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		answer := a2a.NewTextPart("Go: " + asked.Message.Parts[0].Text())
		_ = yield(a2a.NewSubmittedTask(asked, asked.Message), nil) &&
			yield(a2a.NewArtifactEvent(asked, answer), nil) &&
			yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCompleted, nil), nil)
	}
}

func (echo) Cancel(_ context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCanceled, nil), nil)
	}
}

func serve() error {
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})

	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://%s", listening.Addr())
	card := &a2a.AgentCard{
		Name: "Go", Description: "Repeats", Version: "1",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+"/rpc", a2a.TransportProtocolJSONRPC),
		},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "echo", Name: "Echo", Description: "Repeats", Tags: []string{"test"}}},
	}
	mux := http.NewServeMux()
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(echo{})))
	go func() { _ = http.Serve(listening, otelhttp.NewHandler(mux, "go agent")) }()

	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url}); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return provider.Shutdown(ctx)
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
