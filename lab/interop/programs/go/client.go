package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
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
	connect func(ctx context.Context, url, token string) (*a2aclient.Client, error)
	version string
	secured string
	token   string
	// In the proto of A2A 0.3.0, files have no name.
	hasNames bool
}

// call runs the scenarios and prints one JSON line for each: its name, its result, and the error.
func call(url, binding, version, secured, token string) error {
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	compat := func(protocol a2a.TransportProtocol, factory a2aclient.TransportFactory) a2aclient.FactoryOption {
		return a2aclient.WithCompatTransport(a2av0.Version, protocol, factory)
	}
	connect := func(ctx context.Context, url, token string) (*a2aclient.Client, error) {
		resolver := agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
		card, err := resolver.Resolve(ctx, url)
		if err != nil {
			return nil, err
		}
		card.SupportedInterfaces = slices.DeleteFunc(card.SupportedInterfaces, func(way *a2a.AgentInterface) bool {
			return string(way.ProtocolBinding) != binding || !strings.HasPrefix(string(way.ProtocolVersion), version)
		})
		if len(card.SupportedInterfaces) == 0 {
			return nil, fmt.Errorf("the card does not offer %s %s", binding, version)
		}
		options := []a2aclient.FactoryOption{
			grpcv1.WithGRPCTransport(plain),
			compat(a2a.TransportProtocolGRPC, grpcv0.NewGRPCTransportFactory(plain)),
			compat(a2a.TransportProtocolJSONRPC, a2av0.NewJSONRPCTransportFactory(a2av0.JSONRPCTransportConfig{})),
			compat(a2a.TransportProtocolHTTPJSON, a2av0.NewRESTTransportFactory(a2av0.RESTTransportConfig{})),
		}
		if token != "" {
			interceptor := &a2aclient.AuthInterceptor{Service: credentials(token)}
			options = append(options, a2aclient.WithCallInterceptors(interceptor))
		}
		return a2aclient.NewFromCard(ctx, card, options...)
	}
	var client *a2aclient.Client
	report("card", func(ctx context.Context) (err error) {
		client, err = connect(ctx, url, "")
		return err
	})
	if client == nil {
		return nil
	}
	s := scenarios{client, connect, version, secured, token, version == "1.0" || binding == "JSONRPC"}
	report("send", s.send)
	report("stream", s.stream)
	report("follow-up", s.followUp)
	report("follow-up stream", s.followUpStream)
	report("sign-in", s.signIn)
	report("files", s.files)
	report("auth headers", s.authHeaders)
	report("get", s.get)
	if version == "1.0" {
		report("list", s.list)
	}
	report("cancel, subscribe", s.cancelAndSubscribe)
	report("push configuration", s.pushConfiguration)
	report("push delivery", s.pushDelivery)
	report("errors", s.errors)
	return nil
}

// credentials is a bearer token for every security scheme.
type credentials string

func (c credentials) Get(context.Context, a2aclient.SessionID, a2a.SecuritySchemeName) (a2aclient.AuthCredential, error) {
	return a2aclient.AuthCredential(c), nil
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

// followUpStream checks that the first event shows neither the answered question nor earlier artifacts.
func (s scenarios) followUpStream(ctx context.Context) error {
	asked, err := followed(s.client.SendStreamingMessage(ctx, request("ask")))
	if err != nil {
		return err
	}
	reply := request("blue")
	reply.Message.TaskID, reply.Message.ContextID = asked.ID, asked.ContextID
	var opening a2a.Task
	done, err := followed(func(yield func(a2a.Event, error) bool) {
		for event, err := range s.client.SendStreamingMessage(ctx, reply) {
			if task, ok := event.(*a2a.Task); ok && opening.ID == "" {
				opening = *task
			}
			if !yield(event, err) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return errors.Join(
		same(opening.Status.State, a2a.TaskStateWorking),
		same(len(opening.Artifacts), 0),
		same(done.Status.State, a2a.TaskStateCompleted),
		same(answer(done), "got blue"),
	)
}

func (s scenarios) signIn(ctx context.Context) error {
	task, err := s.sent(ctx, request("sign in"))
	if err != nil {
		return err
	}
	if err := same(task.Status.State, a2a.TaskStateAuthRequired); err != nil {
		return err
	}
	return same(task.Status.Message.Parts[0].Text(), "Sign in first.")
}

func (s scenarios) files(ctx context.Context) error {
	task, err := followed(s.client.SendStreamingMessage(ctx, request("files")))
	if err != nil {
		return err
	}
	var found []string
	for _, artifact := range task.Artifacts {
		for _, part := range artifact.Parts {
			if raw := part.Raw(); raw != nil {
				found = append(found, fmt.Sprintf("%s %s %q", part.Filename, part.MediaType, raw))
			} else if data := part.Data(); data != nil {
				found = append(found, fmt.Sprint(data))
			}
		}
	}
	file := a2a.NewRawPart([]byte{0x80, 0x81, 0xff})
	file.Filename, file.MediaType = "a.bin", "image/png"
	sent := request("receive")
	sent.Message.Parts = append(sent.Message.Parts, file, a2a.NewDataPart(map[string]any{"a": 1}))
	received, err := s.sent(ctx, sent)
	if err != nil {
		return err
	}
	name := "dot.png"
	if !s.hasNames {
		name = ""
	}
	return errors.Join(
		same(strings.Join(found, ", "), name+` image/png "\x89PNG\r\n\x1a\n", map[width:1]`),
		same(answer(received), "Received: text gIH/ data"),
	)
}

func (s scenarios) authHeaders(ctx context.Context) error {
	ctx = a2aclient.AttachSessionID(ctx, "session")
	for _, token := range []string{"no-token-of-the-server", s.token} {
		client, err := s.connect(ctx, s.secured, token)
		if err != nil {
			return err
		}
		result, err := client.SendMessage(ctx, request("count"))
		if token != s.token {
			if err == nil {
				return errors.New("the server accepts a wrong token")
			}
			continue
		}
		if err != nil {
			return err
		}
		return same(answer(result.(*a2a.Task)), "one two three")
	}
	return nil
}

func (s scenarios) pushDelivery(ctx context.Context) error {
	tokens := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if strings.Contains(strings.ToUpper(string(body)), "COMPLETED") {
			tokens <- request.Header.Get("X-A2A-Notification-Token")
		}
	}))
	defer server.Close()
	task, err := s.sent(ctx, request("ask"))
	if err != nil {
		return err
	}
	config := &a2a.PushConfig{TaskID: task.ID, ID: "mine", URL: server.URL, Token: "secret"}
	if _, err := s.client.CreateTaskPushConfig(ctx, config); err != nil {
		return err
	}
	reply := request("blue")
	reply.Message.TaskID, reply.Message.ContextID = task.ID, task.ContextID
	if _, err := s.sent(ctx, reply); err != nil {
		return err
	}
	select {
	case token := <-tokens:
		return same(token, "secret")
	case <-ctx.Done():
		return errors.New("no notification arrives")
	}
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
	byDefault, err := s.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: task.ContextID})
	if err != nil {
		return fmt.Errorf("without a page size: %w", err)
	}
	return errors.Join(same(page.Tasks[0].ID, task.ID), same(len(byDefault.Tasks), 1))
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
	_, getErr := s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: "unknown"})
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
