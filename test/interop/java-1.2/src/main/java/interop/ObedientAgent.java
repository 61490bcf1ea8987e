package interop;

import org.a2aproject.sdk.server.agentexecution.AgentExecutor;
import org.a2aproject.sdk.server.agentexecution.RequestContext;
import org.a2aproject.sdk.server.tasks.AgentEmitter;
import org.a2aproject.sdk.spec.DataPart;
import org.a2aproject.sdk.spec.FilePart;
import org.a2aproject.sdk.spec.FileWithBytes;
import org.a2aproject.sdk.spec.Message;
import org.a2aproject.sdk.spec.Part;
import org.a2aproject.sdk.spec.TextPart;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * Handles {@code count}, which streams "one two three", {@code ask}, which asks, and {@code wait}, which works until
 * canceled. {@code sign in} requires authentication, {@code files} returns a file and data, and {@code receive} lists
 * the received parts.
 */
@ApplicationScoped
public class ObedientAgent implements AgentExecutor {
  private static final int PAUSE_MS = 150;
  private final Map<String, CountDownLatch> waiting = new ConcurrentHashMap<>();

  @Override
  public void execute(RequestContext context, AgentEmitter task) {
    boolean isAnswer = context.getTask() != null;
    if (!isAnswer) task.submit();
    task.startWork();
    List<Part<?>> received = context.getMessage().parts();
    String text = ((TextPart) received.get(0)).text();
    if (isAnswer) completeWith(task, new TextPart("got " + text));
    else switch (text) {
      case "wait" -> pauseUntil(waiting.computeIfAbsent(context.getTaskId(), id -> new CountDownLatch(1)));
      case "ask" -> task.requiresInput(createMessage(task, "Which color?"), true);
      case "sign in" -> task.requiresAuth(createMessage(task, "Sign in first."), true);
      case "files" -> completeWith(
          task,
          new TextPart("Here it is: "),
          new FilePart(new FileWithBytes("image/png", "dot.png", "iVBORw0KGgo=")),
          new DataPart(Map.of("width", 1)));
      case "receive" -> completeWith(task, new TextPart("Received: " + describe(received)));
      default -> count(task);
    }
  }

  @Override
  public void cancel(RequestContext context, AgentEmitter task) {
    task.cancel();
    CountDownLatch latch = waiting.remove(context.getTaskId());
    if (latch != null) latch.countDown();
  }

  private static void count(AgentEmitter task) {
    List<String> words = List.of("one ", "two ", "three");
    for (String word : words) {
      boolean isFirst = word.equals("one ");
      task.addArtifact(List.of(new TextPart(word)), "answer", null, null, !isFirst, word.equals("three"));
      pause();
    }
    task.complete();
  }

  private static void completeWith(AgentEmitter task, Part<?>... parts) {
    task.addArtifact(List.of(parts));
    task.complete();
  }

  private static Message createMessage(AgentEmitter task, String text) {
    return task.newAgentMessage(List.of(new TextPart(text)), null);
  }

  private static String describe(List<Part<?>> parts) {
    return parts.stream()
        .map(part -> part instanceof FilePart file
            ? ((FileWithBytes) file.file()).bytes()
            : part instanceof TextPart ? "text" : "data")
        .collect(Collectors.joining(" "));
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void pauseUntil(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }
}
