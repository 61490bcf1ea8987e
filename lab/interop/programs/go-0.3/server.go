package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2agrpc"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
	"google.golang.org/grpc"
)

// obedient is the test agent: `count` streams "one two three", `ask` asks a question, `wait` works until canceled, and
// `sign in` requires authentication.
type obedient struct{}

func (obedient) Execute(ctx context.Context, asked *a2asrv.RequestContext, queue eventqueue.Queue) error {
	isNew := asked.StoredTask == nil
	if isNew {
		if err := queue.Write(ctx, a2a.NewSubmittedTask(asked, asked.Message)); err != nil {
			return err
		}
	}
	if err := queue.Write(ctx, a2a.NewStatusUpdateEvent(asked, a2a.TaskStateWorking, nil)); err != nil {
		return err
	}
	text := asked.Message.Parts[0].(a2a.TextPart).Text
	if text == "wait" {
		<-ctx.Done()
		return nil
	}
	if text == "ask" && isNew {
		return queue.Write(ctx, last(asked, a2a.TaskStateInputRequired))
	}
	if text == "sign in" {
		event := last(asked, a2a.TaskStateAuthRequired)
		event.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, asked, a2a.TextPart{Text: "Sign in first."})
		return queue.Write(ctx, event)
	}
	if text == "files" || text == "receive" {
		answer := a2a.NewArtifactEvent(asked, answerWithFiles(text, asked.Message)...)
		if err := queue.Write(ctx, answer); err != nil {
			return err
		}
		return queue.Write(ctx, last(asked, a2a.TaskStateCompleted))
	}
	words := []string{"one ", "two ", "three"}
	if !isNew {
		words = []string{"got " + text}
	}
	for index, word := range words {
		if text == "count slowly" {
			time.Sleep(150 * time.Millisecond)
		}
		event := a2a.NewArtifactUpdateEvent(asked, "answer", a2a.TextPart{Text: word})
		event.Append = index > 0
		if err := queue.Write(ctx, event); err != nil {
			return err
		}
	}
	return queue.Write(ctx, last(asked, a2a.TaskStateCompleted))
}

// answerWithFiles returns a file and data, or lists the received parts.
func answerWithFiles(text string, message *a2a.Message) []a2a.Part {
	if text == "files" {
		file := a2a.FileBytes{FileMeta: a2a.FileMeta{MimeType: "image/png", Name: "dot.png"}, Bytes: "iVBORw0KGgo="}
		data := a2a.DataPart{Data: map[string]any{"width": 1}}
		return []a2a.Part{a2a.TextPart{Text: "Here it is: "}, a2a.FilePart{File: file}, data}
	}
	received := "Received:"
	for _, part := range message.Parts {
		switch part := part.(type) {
		case a2a.FilePart:
			received += " " + part.File.(a2a.FileBytes).Bytes
		case a2a.DataPart:
			received += " data"
		default:
			received += " text"
		}
	}
	return []a2a.Part{a2a.TextPart{Text: received}}
}

func (obedient) Cancel(ctx context.Context, asked *a2asrv.RequestContext, queue eventqueue.Queue) error {
	return queue.Write(ctx, last(asked, a2a.TaskStateCanceled))
}

func last(asked *a2asrv.RequestContext, state a2a.TaskState) *a2a.TaskStatusUpdateEvent {
	event := a2a.NewStatusUpdateEvent(asked, state, nil)
	event.Final = true
	return event
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
	card := &a2a.AgentCard{
		ProtocolVersion:    "0.3.0",
		Name:               "Obedient",
		Description:        "Does as it is told.",
		Version:            "1",
		URL:                url + "/rpc",
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		AdditionalInterfaces: []a2a.AgentInterface{
			{URL: listeningRPC.Addr().String(), Transport: a2a.TransportProtocolGRPC},
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "obey", Name: "Obey", Description: "Obeys", Tags: []string{"test"}}},
	}
	if requiredToken != "" {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"token": a2a.HTTPAuthSecurityScheme{Scheme: "bearer"}}
		card.Security = []a2a.SecurityRequirements{{"token": {}}}
	}
	sender := push.NewHTTPPushSender(nil)
	handler := a2asrv.NewHandler(obedient{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender))

	rpc := grpc.NewServer(grpc.UnaryInterceptor(requireCallToken))
	a2agrpc.NewHandler(handler).RegisterWith(rpc)
	go func() { _ = rpc.Serve(listeningRPC) }()

	mux := http.NewServeMux()
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	go func() { _ = http.Serve(listening, requireToken(mux)) }()

	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
