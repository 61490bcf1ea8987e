import {
  agent,
  artifact,
  authRequired,
  data,
  failed,
  file,
  inputRequired,
  reply,
  status,
} from "../adapters/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import { createServer, type ServerOptions } from "../../server/index.ts";

/** Records the states of all tasks, and lets tests wait for a state. */
export class TestTaskStateRecorder {
  readonly states: TaskState[] = [];
  readonly #waiters = new Set<() => void>();

  readonly observer: Observer = {
    onEvent: ({ event: { event } }) => {
      const status =
        "task" in event ? event.task.status : "statusUpdate" in event && event.statusUpdate.status;
      if (!status) return;
      this.states.push(status.state);
      for (const wake of this.#waiters) wake();
      this.#waiters.clear();
    },
  };

  /** Resolves when a task has reached the state. */
  async waitForState(state: TaskState): Promise<void> {
    while (!this.states.includes(state)) {
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }
}

/** A running server with a scripted agent. */
export interface ScriptedAgentServer {
  readonly url: string;
  readonly stateRecorder: TestTaskStateRecorder;
  /** Lets the agent finish the task that was started with the message "work". */
  readonly finishWork: () => void;
  close(): Promise<void>;
}

/** Serves a scripted agent over a real socket, and records the states of its tasks. */
export async function serveScriptedAgent(
  streaming = true,
  options: Pick<ServerOptions, "versions"> = {},
): Promise<ScriptedAgentServer> {
  const states = new TestTaskStateRecorder();
  const finished = Promise.withResolvers<void>();
  const server = createServer(
    { parrot: createScriptedAgent({ streaming }, finished.promise) },
    { ...options, store: "memory", observer: states.observer },
  );
  const { agents } = await server.listen();
  return {
    url: agents[0]?.url ?? "",
    stateRecorder: states,
    finishWork: finished.resolve,
    close: () => server.close({ graceMs: 0 }),
  };
}

/** Creates an agent whose behavior depends on the text of the message. */
export function createScriptedAgent(capabilities: { streaming: boolean }, finished?: Promise<void>): Agent {
  return agent(
    {
      name: "Parrot",
      description: "Does what it is told",
      capabilities,
      defaultInputModes: ["text/plain", "application/json", "image/*"],
      skills: [
        {
          id: "say",
          name: "Say it",
          description: "Says what it hears.",
          tags: [],
          examples: ["hello", "ask"],
        },
        { id: "count", name: "Count", description: "Counts.", tags: [], inputModes: ["text/plain"] },
      ],
    },
    async function* ({ text, message, history, signal }) {
      const firstPart = history[0]?.parts[0];
      const firstText = firstPart && "text" in firstPart ? firstPart.text : "";
      if (firstText === "ask" && history.length === 1) yield inputRequired("Which city?");
      if (firstText === "ask") yield `You live in ${text}.`;
      else if (text === "authenticate") yield authRequired("Sign in at https://example.com/in");
      else if (text === "reply") yield reply("Just a message.");
      else if (text === "fail") yield failed("No luck.");
      else if (text === "reject") yield { status: { state: "TASK_STATE_REJECTED" } };
      else if (text === "throw") throw new Error("a secret of the server");
      else if (text === "nothing") return;
      else if (text === "wait") {
        yield status("Waiting…");
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      } else if (text === "work") {
        for (const step of ["search", "analyze", "generate"]) yield status(`Step: ${step}`);
        for (const word of ["one ", "two ", "three"]) {
          yield word;
          // Yields to the event loop between chunks, as an agent does that waits for a model.
          await new Promise((resolve) => setImmediate(resolve));
        }
        await finished;
      } else if (text === "show") {
        yield "Here you are.";
        yield artifact({ name: "facts" }, data({ answer: 42 }));
        yield artifact({ name: "picture" }, file(new Uint8Array([1, 2, 3]), { mediaType: "image/png" }));
        yield artifact(
          { name: "report" },
          file(new Uint8Array([4, 5]), { filename: "a b.pdf", mediaType: "application/pdf" }),
          file(new URL("https://example.com/big.zip"), { mediaType: "application/zip" }),
        );
      } else if (text === "parts") yield JSON.stringify([message.parts, message.metadata ?? null]);
      else yield `You said: ${text}`;
    },
    { respondsWith: "either" },
  );
}

/** Agent of this file when it is passed to `colloquy mcp`. */
export const rootAgent: Agent = createScriptedAgent({ streaming: true });
