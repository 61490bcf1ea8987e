package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const hook = "http://127.0.0.1:9/hook"

type scenarios struct {
	client *a2aclient.Client
}

// call runs the scenarios and prints one JSON line for each: its name, its result, and the error.
func call(url, binding, _ string) error {
	ctx := context.Background()
	var s scenarios
	report("card", func(context.Context) error {
		card, err := agentcard.DefaultResolver.Resolve(ctx, url)
		if err != nil {
			return err
		}
		plain := grpc.WithTransportCredentials(insecure.NewCredentials())
		only := a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{a2a.TransportProtocol(binding)}})
		s.client, err = a2aclient.NewFromCard(ctx, card, a2aclient.WithGRPCTransport(plain), only)
		return err
	})
	if s.client == nil {
		return nil
	}
	report("send", s.send)
	report("stream", s.stream)
	report("follow-up", s.followUp)
	report("files", s.files)
	report("get", s.get)
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

func request(text string) *a2a.MessageSendParams {
	return &a2a.MessageSendParams{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: text})}
}

func (s scenarios) sent(ctx context.Context, req *a2a.MessageSendParams) (*a2a.Task, error) {
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
			if part, ok := part.(a2a.TextPart); ok {
				text += part.Text
			}
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

func (s scenarios) files(ctx context.Context) error {
	task, err := followed(s.client.SendStreamingMessage(ctx, request("files")))
	if err != nil {
		return err
	}
	found := ""
	for _, artifact := range task.Artifacts {
		for _, part := range artifact.Parts {
			if part, ok := part.(a2a.FilePart); ok {
				found += part.File.(a2a.FileBytes).Bytes
			}
		}
	}
	sent := request("receive")
	sent.Message.Parts = append(sent.Message.Parts, a2a.FilePart{
		File: a2a.FileBytes{FileMeta: a2a.FileMeta{MimeType: "image/png"}, Bytes: "gIH/"},
	})
	received, err := s.sent(ctx, sent)
	if err != nil {
		return err
	}
	return errors.Join(same(found, "iVBORw0KGgo="), same(answer(received), "Received: text gIH/"))
}

func (s scenarios) get(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	length := 1
	got, err := s.client.GetTask(ctx, &a2a.TaskQueryParams{ID: task.ID, HistoryLength: &length})
	if err != nil {
		return err
	}
	return errors.Join(same(got.ID, task.ID), same(len(got.History), 1))
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
	next, stop := iter.Pull2(s.client.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: id}))
	defer stop()
	if _, err, ok := next(); err != nil || !ok {
		return fmt.Errorf("the subscription does not begin: %w", err)
	}
	cancelled, err := s.client.CancelTask(ctx, &a2a.TaskIDParams{ID: id})
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
	config := &a2a.TaskPushConfig{TaskID: task.ID, Config: a2a.PushConfig{ID: "mine", URL: hook, Token: "secret"}}
	made, err := s.client.SetTaskPushConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	got, err := s.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigParams{TaskID: task.ID, ConfigID: "mine"})
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	every := &a2a.ListTaskPushConfigParams{TaskID: task.ID}
	listed, err := s.client.ListTaskPushConfig(ctx, every)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := s.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigParams{TaskID: task.ID, ConfigID: "mine"}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	left, err := s.client.ListTaskPushConfig(ctx, every)
	if err != nil {
		return fmt.Errorf("list again: %w", err)
	}
	return errors.Join(same(made.Config.URL, hook), same(got.Config.URL, hook), same(len(listed), 1), same(len(left), 0))
}

func (s scenarios) errors(ctx context.Context) error {
	task, err := s.sent(ctx, request("count"))
	if err != nil {
		return err
	}
	_, getErr := s.client.GetTask(ctx, &a2a.TaskQueryParams{ID: "unknown"})
	_, cancelErr := s.client.CancelTask(ctx, &a2a.TaskIDParams{ID: task.ID})
	more := request("more")
	more.Message.TaskID = task.ID
	_, moreErr := s.sent(ctx, more)
	// A2A 0.3 does not define this error.
	if moreErr == nil {
		return errors.New("a message to a finished task went well")
	}
	return errors.Join(refused(getErr, a2a.ErrTaskNotFound), refused(cancelErr, a2a.ErrTaskNotCancelable))
}
