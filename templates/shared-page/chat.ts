import { connect, getText, readText, type StreamResponse, type Task } from "colloquy/client";

export interface ChatMessage {
  readonly role: "user" | "agent";
  readonly text: string;
}

/** A conversation with an agent. */
export interface Chat {
  /** Sends a message. Resolves when the answer is complete. */
  send(text: string): Promise<void>;
}

/**
 * Opens the conversation of this browser. The server stores the messages and the events of each answer, and the browser
 * stores only the id of the context. After a reload, an answer that is still running continues.
 */
export async function openChat(
  agentUrl: string,
  showMessages: (messages: readonly ChatMessage[]) => void,
): Promise<Chat> {
  const client = await connect(agentUrl);
  const contextId = localStorage.getItem("contextId") ?? crypto.randomUUID();
  localStorage.setItem("contextId", contextId);
  let messages: readonly ChatMessage[] = [];
  const setMessages = (changed: readonly ChatMessage[]): void => showMessages((messages = changed));

  const showAnswer = async (events: AsyncIterable<StreamResponse>): Promise<void> => {
    const earlier = messages;
    let text = "";
    for await (const piece of readText(events)) {
      text += piece;
      setMessages([...earlier, { role: "agent", text }]);
    }
  };

  const { tasks } = await client.tasks.list({ contextId, includeArtifacts: true, historyLength: 100 });
  const [latest, ...earlier] = tasks;
  setMessages(earlier.toReversed().flatMap((task) => [...listRequests(task), ...listAnswers(task)]));
  if (latest) {
    setMessages([...messages, ...listRequests(latest)]);
    // Starts with the stored events, and continues with the new ones.
    void showAnswer(client.tasks.subscribe(latest.id, { after: 0 }));
  }

  return {
    async send(text) {
      setMessages([...messages, { role: "user", text }]);
      await showAnswer(client.stream(text, { contextId }));
    },
  };
}

function listRequests({ history = [] }: Task): ChatMessage[] {
  return history
    .filter(({ role }) => role === "ROLE_USER")
    .map(({ parts }) => ({ role: "user", text: getText(parts) }));
}

function listAnswers({ artifacts = [] }: Task): ChatMessage[] {
  return artifacts.map(({ parts }) => ({ role: "agent", text: getText(parts) }));
}
