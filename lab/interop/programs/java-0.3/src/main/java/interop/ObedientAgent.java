package interop;

import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.DataPart;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TextPart;
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
  public void execute(RequestContext context, EventQueue queue) {
    boolean isAnswer = context.getTask() != null;
    if (!isAnswer) {
      queue.enqueueEvent(new Task.Builder()
          .id(context.getTaskId())
          .contextId(context.getContextId())
          .status(new TaskStatus(TaskState.SUBMITTED))
          .history(context.getMessage())
          .build());
    }
    TaskUpdater task = new TaskUpdater(context, queue);
    task.startWork();
    List<Part<?>> received = context.getMessage().getParts();
    String text = ((TextPart) received.get(0)).getText();
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
  public void cancel(RequestContext context, EventQueue queue) {
    new TaskUpdater(context, queue).cancel();
    CountDownLatch latch = waiting.remove(context.getTaskId());
    if (latch != null) latch.countDown();
  }

  private static void count(TaskUpdater task) {
    List<String> words = List.of("one ", "two ", "three");
    for (String word : words) {
      boolean isFirst = word.equals("one ");
      task.addArtifact(List.of(new TextPart(word)), "answer", null, null, !isFirst, word.equals("three"));
      pause();
    }
    task.complete();
  }

  private static void completeWith(TaskUpdater task, Part<?>... parts) {
    task.addArtifact(List.of(parts));
    task.complete();
  }

  private static Message createMessage(TaskUpdater task, String text) {
    return task.newAgentMessage(List.of(new TextPart(text)), null);
  }

  private static String describe(List<Part<?>> parts) {
    return parts.stream()
        .map(part -> part instanceof FilePart file
            ? ((FileWithBytes) file.getFile()).bytes()
            : part.getKind().asString())
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
