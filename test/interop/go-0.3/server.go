package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

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
	for _, part := range asked.Message.Parts {
		if part, ok := part.(a2a.FilePart); ok {
			file := part.File.(a2a.FileBytes)
			received, err := base64.StdEncoding.DecodeString(file.Bytes)
			if err != nil {
				return err
			}
			text := a2a.TextPart{Text: hex.EncodeToString(received)}
			event := a2a.NewArtifactUpdateEvent(asked, "answer", a2a.FilePart{File: file}, text)
			event.Append = false
			if err := queue.Write(ctx, event); err != nil {
				return err
			}
			return queue.Write(ctx, last(asked, a2a.TaskStateCompleted))
		}
	}
	words := []string{"one ", "two ", "three"}
	if !isNew {
		words = []string{"got " + text}
	}
	for index, word := range words {
		event := a2a.NewArtifactUpdateEvent(asked, "answer", a2a.TextPart{Text: word})
		event.Append = index > 0
		if err := queue.Write(ctx, event); err != nil {
			return err
		}
	}
	return queue.Write(ctx, last(asked, a2a.TaskStateCompleted))
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
	sender := push.NewHTTPPushSender(nil)
	handler := a2asrv.NewHandler(obedient{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender))

	rpc := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(rpc)
	go func() { _ = rpc.Serve(listeningRPC) }()

	mux := http.NewServeMux()
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	go func() { _ = http.Serve(listening, mux) }()

	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
