package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	grpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpcv1 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
)

// obedient is the test agent: `count` streams "one two three", `ask` asks a question, and `wait` works until canceled.
type obedient struct{}

func (obedient) Execute(ctx context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		isNew := asked.StoredTask == nil
		if isNew && !yield(a2a.NewSubmittedTask(asked, asked.Message), nil) {
			return
		}
		if !yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateWorking, nil), nil) {
			return
		}
		text := asked.Message.Parts[0].Text()
		if text == "wait" {
			<-ctx.Done()
			return
		}
		if text == "ask" && isNew {
			question := a2a.NewMessageForTask(a2a.MessageRoleAgent, asked, a2a.NewTextPart("Which color?"))
			yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateInputRequired, question), nil)
			return
		}
		if text == "sign in" {
			request := a2a.NewMessageForTask(a2a.MessageRoleAgent, asked, a2a.NewTextPart("Sign in first."))
			yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateAuthRequired, request), nil)
			return
		}
		if text == "files" || text == "receive" {
			if yield(a2a.NewArtifactEvent(asked, answerWithFiles(text, asked.Message)...), nil) {
				yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCompleted, nil), nil)
			}
			return
		}
		words := []string{"one ", "two ", "three"}
		if text == "fail" {
			words = []string{"Partly. "}
		}
		if !isNew {
			words = []string{"got " + text}
		}
		for index, word := range words {
			if text == "count slowly" {
				time.Sleep(150 * time.Millisecond)
			}
			event := a2a.NewArtifactUpdateEvent(asked, "answer", a2a.NewTextPart(word))
			event.Append = index > 0
			if !yield(event, nil) {
				return
			}
		}
		if text == "fail" {
			reason := a2a.NewMessageForTask(a2a.MessageRoleAgent, asked, a2a.NewTextPart("no credit"))
			yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateFailed, reason), nil)
			return
		}
		yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCompleted, nil), nil)
	}
}

// answerWithFiles returns a file and data, or lists the received parts.
func answerWithFiles(text string, message *a2a.Message) []*a2a.Part {
	if text == "files" {
		file := a2a.NewRawPart([]byte("\x89PNG\r\n\x1a\n"))
		file.MediaType, file.Filename = "image/png", "dot.png"
		return []*a2a.Part{a2a.NewTextPart("Here it is: "), file, a2a.NewDataPart(map[string]any{"width": 1})}
	}
	received := "Received:"
	for _, part := range message.Parts {
		switch part.Content.(type) {
		case a2a.Raw:
			received += " " + base64.StdEncoding.EncodeToString(part.Raw())
		case a2a.Data:
			received += " data"
		default:
			received += " text"
		}
	}
	return []*a2a.Part{a2a.NewTextPart(received)}
}

func (obedient) Cancel(_ context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCanceled, nil), nil)
	}
}

// serve prints its URL as one JSON line once it listens, and exits when its standard input closes.
func serve() error {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	listeningRPC, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://%s", listening.Addr())
	card := cardFor(url, listeningRPC.Addr().String())
	// With --default-webhooks, the SDK refuses to call private addresses.
	sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{
		AllowPrivateNetworks: !slices.Contains(os.Args, "--default-webhooks"),
	})
	handler := a2asrv.NewHandler(
		obedient{},
		a2asrv.WithCapabilityChecks(&card.Capabilities),
		// Without an authenticated user, the SDK lists no tasks.
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
			Authenticator: func(context.Context) (string, error) { return "everybody", nil },
		})),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender),
	)

	rpc := grpc.NewServer(grpc.UnaryInterceptor(requireCallToken))
	grpcv1.NewHandler(handler).RegisterWith(rpc)
	grpcv0.NewHandler(handler).RegisterWith(rpc)
	go func() { _ = rpc.Serve(listeningRPC) }()

	mux := http.NewServeMux()
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
	mux.Handle("/v1.0/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/v1.0/rest/", http.StripPrefix("/v1.0/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle("/v0.3/rpc", a2av0.NewJSONRPCHandler(handler))
	mux.Handle("/v0.3/rest/", http.StripPrefix("/v0.3/rest", a2av0.NewRESTHandler(handler)))
	go func() { _ = http.Serve(listening, requireToken(mux)) }()

	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func cardFor(url, grpcAddress string) *a2a.AgentCard {
	card := &a2a.AgentCard{
		Name:               "Obedient",
		Description:        "Does as it is told.",
		Version:            "1",
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "obey", Name: "Obey", Description: "Obeys", Tags: []string{"test"}}},
	}
	for _, version := range []a2a.ProtocolVersion{"1.0", "0.3"} {
		at := fmt.Sprintf("%s/v%s", url, version)
		card.SupportedInterfaces = append(card.SupportedInterfaces,
			&a2a.AgentInterface{URL: at + "/rpc", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: version},
			&a2a.AgentInterface{URL: at + "/rest", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: version},
			&a2a.AgentInterface{URL: grpcAddress, ProtocolBinding: a2a.TransportProtocolGRPC, ProtocolVersion: version},
		)
	}
	if requiredToken != "" {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"token": a2a.HTTPAuthSecurityScheme{Scheme: "bearer"}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"token": {}}}
	}
	return card
}
