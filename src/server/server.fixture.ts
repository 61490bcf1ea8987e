import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import { textOf, type Task } from "../protocol/index.ts";
import type { Server, ServerOptions } from "./index.ts";

/** A way to send requests to a server, and to stop doing so. */
export interface Door {
  readonly url: string;
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Says what its message asks for: `echo …`, `chunks n`, `ask`, `wait` (until aborted), `throw`. */
export const parrot: Agent = {
  describe: () => ({
    name: "parrot",
    description: "Repeats.",
    skills: [{ id: "repeat", name: "Repeat", description: "Repeats.", tags: ["test"] }],
  }),
  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    const [what = "", ...rest] = textOf(message.parts).split(" ");
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (what === "ask")
      yield { status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "what?" }] } } };
    if (what === "throw") throw new Error("secret");
    if (what === "wait")
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    const chunks = what === "chunks" ? Number(rest[0]) : what === "echo" ? 1 : 0;
    for (let at = 0; at < chunks; at++) {
      const text = what === "echo" ? rest.join(" ") : `${at} `;
      yield { artifact: { artifactId: "a", parts: [{ text }] }, ...(at > 0 ? { append: true } : {}) };
    }
  },
};

export const V1 = { "a2a-version": "1.0" };
export const JSON_BODY: Record<string, string> = { ...V1, "content-type": "application/json" };
let count = 0;
/** A message of its own. */
export const message = (text: string, more: object = {}): object => ({
  messageId: `m${++count}`,
  role: "ROLE_USER",
  parts: [{ text }],
  ...more,
});

export interface RpcAnswer {
  id: unknown;
  result?: Record<string, unknown> & { task?: Task };
  error?: {
    code: number;
    message: string;
    data?: { "@type": string; reason?: string; fieldViolations?: { field: string }[] }[];
  };
}

/** Server-sent events of a body that ends: id and data of each. */
export async function readEvents(response: Response): Promise<{ id: number | undefined; data: unknown }[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
  return frames.map((frame) => {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    return {
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null"),
    };
  });
}

/** How a suite gets at a server through one kind of door. */
export type Open = (
  agents: Record<string, Agent>,
  options?: ServerOptions,
) => Promise<{ door: Door; server: Server }>;

/** A door to a server with two agents, `parrot` and `silent` (which neither streams nor sends push notifications), and what one does at it. */
export class Visit {
  door!: Door;

  async begin(open: Open): Promise<void> {
    const silent: Agent = {
      ...parrot,
      describe: () => ({
        name: "silent",
        description: "Does not stream, and sends nothing.",
        capabilities: { streaming: false, pushNotifications: false },
      }),
    };
    ({ door: this.door } = await open({ parrot, silent }, { store: "memory" }));
  }

  readonly rpc = async (
    method: string,
    params?: object,
    headers: Record<string, string> = {},
    path = "/",
  ): Promise<RpcAnswer> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params ? { params } : {}) });
    const response = await this.door.send(path, {
      method: "POST",
      headers: { ...JSON_BODY, ...headers },
      body,
    });
    return (await response.json()) as RpcAnswer;
  };

  readonly post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    this.door.send(path, {
      method: "POST",
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify(body),
    });

  readonly taskFrom = async (text: string): Promise<Task> =>
    ((await this.rpc("SendMessage", { message: message(text) })).result?.task ?? {}) as Task;
}
