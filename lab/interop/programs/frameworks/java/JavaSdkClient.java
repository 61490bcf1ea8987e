import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfig;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.spec.DataPart;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.Task;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import io.a2a.spec.TaskState;
import io.a2a.spec.TextPart;
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

/** Calls our server with the Java SDK over JSON-RPC of A2A 0.3: JavaSdkClient.java URL SECURED_URL TOKEN. */
public class JavaSdkClient {
  private static final int TIMEOUT_SECONDS = 20;
  private static final Set<TaskState> TURN_ENDS =
      Set.of(TaskState.COMPLETED, TaskState.FAILED, TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED);

  interface Scenario {
    void run() throws Exception;
  }

  /** The task at the end of a turn, and the state of each event. */
  record Turn(Task task, List<TaskState> states) {
    String text() {
      StringBuilder text = new StringBuilder();
      if (task.getArtifacts() != null) {
        task.getArtifacts().forEach(artifact -> artifact.parts().forEach(part -> text.append(toText(part))));
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
      assertEqual(question.getStatus().state(), TaskState.INPUT_REQUIRED);
      assertEqual(toText(question.getStatus().message().getParts().get(0)), "Which color?");
    });
    scenarios.put("follow-up", () -> assertEqual(answerQuestion(url, false).text(), "got blue"));
    scenarios.put("follow-up stream", () -> {
      Turn turn = answerQuestion(url, true);
      assertEqual(turn.text(), "got blue");
      assertEqual(turn.states().contains(TaskState.INPUT_REQUIRED), false);
    });
    scenarios.put("files", () ->
        assertEqual(send(url, true, message("files"), Map.of()).text(), "Here it is: dot.png{width=1}"));
    scenarios.put("sent files", () -> {
      Part<?> file = new FilePart(new FileWithBytes("image/png", "dot.png", "iVBORw0KGgo="));
      List<Part<?>> parts = List.of(new TextPart("receive"), file, new DataPart(Map.of("a", 1)));
      Message message = new Message.Builder(message("receive")).parts(parts).build();
      assertEqual(send(url, true, message, Map.of()).text(), "Received: text iVBORw0KGgo= data");
    });
    scenarios.put("sign-in", () ->
        assertEqual(send(url, true, message("sign in"), Map.of()).task().getStatus().state(), TaskState.AUTH_REQUIRED));
    scenarios.put("failure", () ->
        assertEqual(send(url, true, message("fail"), Map.of()).task().getStatus().state(), TaskState.FAILED));
    scenarios.put("auth headers", () -> {
      Map<String, String> headers = Map.of("Authorization", "Bearer " + arguments[2]);
      assertEqual(send(arguments[1], true, message("count"), headers).text(), "one two three");
    });
    scenarios.put("get", () -> {
      Task task = send(url, true, message("count"), Map.of()).task();
      Task found = connect(url, false, new LinkedBlockingQueue<>()).getTask(new TaskQueryParams(task.getId()));
      assertEqual(found.getStatus().state(), TaskState.COMPLETED);
    });
    scenarios.put("push delivery", () -> receiveNotification(url));
    ObjectMapper json = new ObjectMapper();
    for (Map.Entry<String, Scenario> entry : scenarios.entrySet()) {
      Map<String, Object> outcome = new LinkedHashMap<>(Map.of("scenario", entry.getKey(), "ok", true));
      try {
        entry.getValue().run();
      } catch (Throwable error) {
        outcome.putAll(Map.of("ok", false, "detail", String.valueOf(error)));
      }
      System.out.println(json.writeValueAsString(outcome));
    }
    System.exit(0);
  }

  private static Turn answerQuestion(String url, boolean streaming) throws Exception {
    Task question = send(url, streaming, message("ask"), Map.of()).task();
    Message answer = A2A.createUserTextMessage("blue", question.getContextId(), question.getId());
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
      PushNotificationConfig config = new PushNotificationConfig.Builder()
          .url("http://127.0.0.1:" + webhook.getAddress().getPort() + "/hook").token("secret").build();
      connect(url, false, new LinkedBlockingQueue<>())
          .setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(question.getId(), config));
      Message answer = A2A.createUserTextMessage("blue", question.getContextId(), question.getId());
      send(url, false, answer, Map.of());
      while (true) {
        String notification = notifications.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (notification == null) throw new AssertionError("no notification of the end of the task");
        if (notification.startsWith("secret ") && notification.contains("\"completed\"")) return;
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
        .clientConfig(new ClientConfig.Builder().setStreaming(streaming).build())
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
      states.add(task.getStatus().state());
      if (TURN_ENDS.contains(task.getStatus().state())) return new Turn(task, states);
    }
  }

  private static String toText(Part<?> part) {
    if (part instanceof TextPart text) return text.getText();
    if (part instanceof FilePart file) return ((FileWithBytes) file.getFile()).name();
    return String.valueOf(((DataPart) part).getData());
  }

  private static void assertEqual(Object actual, Object wanted) {
    if (!actual.equals(wanted)) throw new AssertionError(actual + " instead of " + wanted);
  }
}
