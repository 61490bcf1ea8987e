package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	grpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpcv1 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const hook = "http://127.0.0.1:9/hook"

type scenarios struct {
	client  *a2aclient.Client
	version string
}

// call runs the scenarios and prints one JSON line for each: its name, its result, and the error.
func call(url, binding, version string) error {
	ctx := context.Background()
	resolver := agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
	card, err := resolver.Resolve(ctx, url)
	report("card", func(context.Context) error {
		if err != nil {
			return err
		}
		card.SupportedInterfaces = slices.DeleteFunc(card.SupportedInterfaces, func(way *a2a.AgentInterface) bool {
			return string(way.ProtocolBinding) != binding || !strings.HasPrefix(string(way.ProtocolVersion), version)
		})
		if len(card.SupportedInterfaces) == 0 {
			return fmt.Errorf("the card does not offer %s %s", binding, version)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	compat := func(protocol a2a.TransportProtocol, factory a2aclient.TransportFactory) a2aclient.FactoryOption {
		return a2aclient.WithCompatTransport(a2av0.Version, protocol, factory)
	}
	client, err := a2aclient.NewFromCard(ctx, card,
		grpcv1.WithGRPCTransport(plain),
		compat(a2a.TransportProtocolGRPC, grpcv0.NewGRPCTransportFactory(plain)),
		compat(a2a.TransportProtocolJSONRPC, a2av0.NewJSONRPCTransportFactory(a2av0.JSONRPCTransportConfig{})),
		compat(a2a.TransportProtocolHTTPJSON, a2av0.NewRESTTransportFactory(a2av0.RESTTransportConfig{})),
	)
	if err != nil {
		return err
	}
	s := scenarios{client, version}
	report("send", s.send)
	report("stream", s.stream)
	report("follow-up", s.followUp)
	report("get", s.get)
	if version == "1.0" {
		report("list", s.list)
	}
	report("cancel, subscribe", s.cancelAndSubscribe)
	report("push configuration", s.pushConfiguration)
	report("errors", s.errors)
	return nil
}

func report(name string, work func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	line := map[string]any{"scenario": name, "ok": true}
	if err := work(ctx); err != nil {
		line["ok"] = false
		line["detail"] = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(line)
}

func request(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

func (s scenarios) sent(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	result, err := s.client.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := result.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is %T", result)
	}
	return task, nil
}

// followed returns the task that the events of a stream describe.
func followed(events iter.Seq2[a2a.Event, error]) (*a2a.Task, error) {
	task := &a2a.Task{}
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		switch event := event.(type) {
		case *a2a.Task:
			task = event
		case *a2a.TaskStatusUpdateEvent:
			task.Status = event.Status
		case *a2a.TaskArtifactUpdateEvent:
			applyArtifactUpdate(task, event)
		}
	}
	return task, nil
}

// applyArtifactUpdate adds the chunk to its artifact, or replaces the artifact if the chunk is not appended.
func applyArtifactUpdate(task *a2a.Task, event *a2a.TaskArtifactUpdateEvent) {
	for at, artifact := range task.Artifacts {
		if artifact.ID != event.Artifact.ID {
			continue
		}
		if event.Append {
			artifact.Parts = append(artifact.Parts, event.Artifact.Parts...)
		} else {
			task.Artifacts[at] = event.Artifact
		}
		return
	}
	task.Artifacts = append(task.Artifacts, event.Artifact)
}

func answer(task *a2a.Task) string {
	text := ""
	for _, artifact := range task.Artifacts {
		for _, part := range artifact.Parts {
			text += part.Text()
		}
	}
	return text
}

func same[T comparable](got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%v instead of %v", got, wanted)
	}
	return nil
}

func refused(err, wanted error) error {
	if !errors.Is(err, wanted) {
		return fmt.Errorf("%v instead of %q", err, wanted)
	}
	return nil
}

func (s scenarios) send(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	return errors.Join(same(task.Status.State, a2a.TaskStateCompleted), same(answer(task), "one two three"))
}

func (s scenarios) stream(ctx context.Context) error {
	task, err := followed(s.client.SendStreamingMessage(ctx, request("count")))
	if err != nil {
		return err
	}
	return errors.Join(same(task.Status.State, a2a.TaskStateCompleted), same(answer(task), "one two three"))
}

func (s scenarios) followUp(ctx context.Context) error {
	asked, err := followed(s.client.SendStreamingMessage(ctx, request("ask")))
	if err != nil {
		return err
	}
	if err := same(asked.Status.State, a2a.TaskStateInputRequired); err != nil {
		return err
	}
	reply := request("blue")
	reply.Message.TaskID, reply.Message.ContextID = asked.ID, asked.ContextID
	done, err := s.sent(ctx, reply)
	if err != nil {
		return err
	}
	return errors.Join(same(done.ID, asked.ID), same(answer(done), "got blue"))
}

func (s scenarios) get(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	length := 1
	got, err := s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &length})
	if err != nil {
		return err
	}
	return errors.Join(same(got.ID, task.ID), same(len(got.History), 1))
}

func (s scenarios) list(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	page, err := s.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: task.ContextID, PageSize: 5})
	if err != nil {
		return err
	}
	if len(page.Tasks) != 1 {
		return fmt.Errorf("%d tasks instead of 1", len(page.Tasks))
	}
	return same(page.Tasks[0].ID, task.ID)
}

func (s scenarios) cancelAndSubscribe(ctx context.Context) error {
	var id a2a.TaskID
	for event, err := range s.client.SendStreamingMessage(ctx, request("wait")) {
		if err != nil {
			return err
		}
		id = event.TaskInfo().TaskID
		if update, ok := event.(*a2a.TaskStatusUpdateEvent); ok && update.Status.State == a2a.TaskStateWorking {
			break
		}
	}
	next, stop := iter.Pull2(s.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}))
	defer stop()
	if _, err, ok := next(); err != nil || !ok {
		return fmt.Errorf("the subscription does not begin: %w", err)
	}
	cancelled, err := s.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
	if err != nil {
		return err
	}
	last := a2a.TaskStateUnspecified
	for event, err, ok := next(); ok; event, err, ok = next() {
		if err != nil {
			return err
		}
		switch event := event.(type) {
		case *a2a.Task:
			last = event.Status.State
		case *a2a.TaskStatusUpdateEvent:
			last = event.Status.State
		}
	}
	return errors.Join(same(cancelled.Status.State, a2a.TaskStateCanceled), same(last, a2a.TaskStateCanceled))
}

func (s scenarios) pushConfiguration(ctx context.Context) error {
	task, err := s.sent(ctx, request("ask"))
	if err != nil {
		return err
	}
	config := &a2a.PushConfig{TaskID: task.ID, ID: "mine", URL: hook, Token: "secret"}
	made, err := s.client.CreateTaskPushConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	got, err := s.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: "mine"})
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	every := &a2a.ListTaskPushConfigRequest{TaskID: task.ID}
	listed, err := s.client.ListTaskPushConfigs(ctx, every)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := s.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: "mine"}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	left, err := s.client.ListTaskPushConfigs(ctx, every)
	if err != nil {
		return fmt.Errorf("list again: %w", err)
	}
	return errors.Join(same(made.URL, hook), same(got.URL, hook), same(len(listed), 1), same(len(left), 0))
}

func (s scenarios) errors(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	_, getErr := s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: "nobody"})
	_, cancelErr := s.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
	more := request("more")
	more.Message.TaskID = task.ID
	_, moreErr := s.sent(ctx, more)
	if s.version == "1.0" {
		moreErr = refused(moreErr, a2a.ErrUnsupportedOperation)
	} else if moreErr != nil {
		moreErr = nil
	} else {
		moreErr = errors.New("a message to a finished task went well")
	}
	return errors.Join(refused(getErr, a2a.ErrTaskNotFound), refused(cancelErr, a2a.ErrTaskNotCancelable), moreErr)
}
