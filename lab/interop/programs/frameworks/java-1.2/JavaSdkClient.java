import com.google.gson.Gson;
import com.sun.net.httpserver.HttpServer;
import org.a2aproject.sdk.A2A;
import org.a2aproject.sdk.client.Client;
import org.a2aproject.sdk.client.TaskEvent;
import org.a2aproject.sdk.client.TaskUpdateEvent;
import org.a2aproject.sdk.client.config.ClientConfig;
import org.a2aproject.sdk.client.transport.jsonrpc.JSONRPCTransport;
import org.a2aproject.sdk.client.transport.jsonrpc.JSONRPCTransportConfig;
import org.a2aproject.sdk.client.transport.spi.interceptors.ClientCallContext;
import org.a2aproject.sdk.spec.DataPart;
import org.a2aproject.sdk.spec.FilePart;
import org.a2aproject.sdk.spec.FileWithBytes;
import org.a2aproject.sdk.spec.ListTasksParams;
import org.a2aproject.sdk.spec.Message;
import org.a2aproject.sdk.spec.Part;
import org.a2aproject.sdk.spec.Task;
import org.a2aproject.sdk.spec.TaskPushNotificationConfig;
import org.a2aproject.sdk.spec.TaskQueryParams;
import org.a2aproject.sdk.spec.TaskState;
import org.a2aproject.sdk.spec.TextPart;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Calls our server with the Java SDK over JSON-RPC of A2A 1.0: JavaSdkClient.java URL SECURED_URL TOKEN. */
public class JavaSdkClient {
  private static final int TIMEOUT_SECONDS = 20;
  private static final Set<TaskState> TURN_ENDS =
      Set.of(
          TaskState.TASK_STATE_COMPLETED,
          TaskState.TASK_STATE_FAILED,
          TaskState.TASK_STATE_INPUT_REQUIRED,
          TaskState.TASK_STATE_AUTH_REQUIRED);

  interface Scenario {
    void run() throws Exception;
  }

  /** The task at the end of a turn, and the state of each event. */
  record Turn(Task task, List<TaskState> states) {
    String text() {
      StringBuilder text = new StringBuilder();
      if (task.artifacts() != null) {
        task.artifacts().forEach(artifact -> artifact.parts().forEach(part -> text.append(toText(part))));
      }
      return text.toString();
    }
  }

  public static void main(String[] arguments) throws Exception {
    String url = arguments[0];
    Map<String, Scenario> scenarios = new LinkedHashMap<>();
    scenarios.put("send", () -> assertEqual(send(url, false, message("count"), Map.of()).text(), "one two three"));
    scenarios.put("stream", () -> assertEqual(send(url, true, message("count"), Map.of()).text(), "one two three"));
    scenarios.put("question", () -> {
      Task question = send(url, false, message("ask"), Map.of()).task();
      assertEqual(question.status().state(), TaskState.TASK_STATE_INPUT_REQUIRED);
      assertEqual(toText(question.status().message().parts().get(0)), "Which color?");
    });
    scenarios.put("follow-up", () -> assertEqual(answerQuestion(url, false).text(), "got blue"));
    scenarios.put("follow-up stream", () -> {
      Turn turn = answerQuestion(url, true);
      assertEqual(turn.text(), "got blue");
      assertEqual(turn.states().contains(TaskState.TASK_STATE_INPUT_REQUIRED), false);
    });
    scenarios.put("files", () ->
        assertEqual(send(url, true, message("files"), Map.of()).text(), "Here it is: dot.png{width=1.0}"));
    scenarios.put("sent files", () -> {
      Part<?> file = new FilePart(new FileWithBytes("image/png", "dot.png", "iVBORw0KGgo="));
      List<Part<?>> parts = List.of(new TextPart("receive"), file, new DataPart(Map.of("a", 1)));
      Message message = Message.builder(message("receive")).parts(parts).build();
      assertEqual(send(url, true, message, Map.of()).text(), "Received: text iVBORw0KGgo= data");
    });
    scenarios.put("sign-in", () ->
        assertEqual(send(url, true, message("sign in"), Map.of()).task().status().state(), TaskState.TASK_STATE_AUTH_REQUIRED));
    scenarios.put("failure", () ->
        assertEqual(send(url, true, message("fail"), Map.of()).task().status().state(), TaskState.TASK_STATE_FAILED));
    scenarios.put("auth headers", () -> {
      Map<String, String> headers = Map.of("Authorization", "Bearer " + arguments[2]);
      assertEqual(send(arguments[1], true, message("count"), headers).text(), "one two three");
    });
    scenarios.put("get", () -> {
      Task task = send(url, true, message("count"), Map.of()).task();
      Task found = connect(url, false, new LinkedBlockingQueue<>()).getTask(new TaskQueryParams(task.id()));
      assertEqual(found.status().state(), TaskState.TASK_STATE_COMPLETED);
    });
    scenarios.put("list", () -> {
      Task task = send(url, false, message("count"), Map.of()).task();
      ListTasksParams query = ListTasksParams.builder().contextId(task.contextId()).tenant("").build();
      List<Task> tasks = connect(url, false, new LinkedBlockingQueue<>()).listTasks(query).tasks();
      assertEqual(tasks.stream().map(Task::id).toList(), List.of(task.id()));
    });
    scenarios.put("push delivery", () -> receiveNotification(url));
    Gson json = new Gson();
    for (Map.Entry<String, Scenario> entry : scenarios.entrySet()) {
      Map<String, Object> outcome = new LinkedHashMap<>(Map.of("scenario", entry.getKey(), "ok", true));
      try {
        entry.getValue().run();
      } catch (Throwable error) {
        outcome.putAll(Map.of("ok", false, "detail", String.valueOf(error)));
      }
      System.out.println(json.toJson(outcome));
    }
    System.exit(0);
  }

  private static Turn answerQuestion(String url, boolean streaming) throws Exception {
    Task question = send(url, streaming, message("ask"), Map.of()).task();
    Message answer = A2A.createUserTextMessage("blue", question.contextId(), question.id());
    return send(url, streaming, answer, Map.of());
  }

  /** Receives the notification of the end of a task, with its token. */
  private static void receiveNotification(String url) throws Exception {
    BlockingQueue<String> notifications = new LinkedBlockingQueue<>();
    HttpServer webhook = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    webhook.createContext("/hook", exchange -> {
      String token = exchange.getRequestHeaders().getFirst("X-A2A-Notification-Token");
      notifications.add(token + " " + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
    });
    webhook.start();
    try {
      Task question = send(url, false, message("ask"), Map.of()).task();
      TaskPushNotificationConfig config = TaskPushNotificationConfig.builder()
          .id("mine")
          .taskId(question.id())
          .url("http://127.0.0.1:" + webhook.getAddress().getPort() + "/hook")
          .token("secret")
          .build();
      connect(url, false, new LinkedBlockingQueue<>()).createTaskPushNotificationConfiguration(config);
      Message answer = A2A.createUserTextMessage("blue", question.contextId(), question.id());
      send(url, false, answer, Map.of());
      while (true) {
        String notification = notifications.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (notification == null) throw new AssertionError("no notification of the end of the task");
        if (notification.startsWith("secret ") && notification.contains("TASK_STATE_COMPLETED")) return;
      }
    } finally {
      webhook.stop(0);
    }
  }

  private static Message message(String text) {
    return A2A.toUserMessage(text);
  }

  private static Client connect(String url, boolean streaming, BlockingQueue<Object> events) throws Exception {
    return Client.builder(A2A.getAgentCard(url))
        .addConsumer((event, card) -> events.add(event))
        .streamingErrorHandler(events::add)
        .withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig())
        .clientConfig(ClientConfig.builder().setStreaming(streaming).build())
        .build();
  }

  /** Sends a message and collects events until the turn ends. */
  private static Turn send(String url, boolean streaming, Message message, Map<String, String> headers)
      throws Exception {
    BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    connect(url, streaming, events).sendMessage(message, new ClientCallContext(Map.of(), headers));
    List<TaskState> states = new ArrayList<>();
    while (true) {
      Object event = events.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (event == null) throw new AssertionError("hangs: no result within " + TIMEOUT_SECONDS + " s");
      if (event instanceof Throwable error) throw new RuntimeException(error);
      Task task = event instanceof TaskEvent whole ? whole.getTask() : ((TaskUpdateEvent) event).getTask();
      states.add(task.status().state());
      if (TURN_ENDS.contains(task.status().state())) return new Turn(task, states);
    }
  }

  private static String toText(Part<?> part) {
    if (part instanceof TextPart text) return text.text();
    if (part instanceof FilePart file) return ((FileWithBytes) file.file()).name();
    return String.valueOf(((DataPart) part).data());
  }

  private static void assertEqual(Object actual, Object wanted) {
    if (!actual.equals(wanted)) throw new AssertionError(actual + " instead of " + wanted);
  }
}
