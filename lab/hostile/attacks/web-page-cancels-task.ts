import { createServer } from "../../../src/server/index.ts";
import { ATTACKED_AGENTS } from "../attacked-server.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

/** Headers of browsers for a request without a preflight. */
const CROSS_SITE_HEADERS = [
  { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  { "sec-fetch-site": "same-site", origin: "http://localhost:3000" },
  { origin: "https://evil.example" },
  { origin: "null" },
] satisfies Record<string, string>[];

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "a web page makes a browser send an empty POST that cancels a task",
  run: async () => {
    const server = createServer(ATTACKED_AGENTS.ask, { store: "memory" });
    const { url } = await server.listen();
    const problems: string[] = [];
    for (const headers of CROSS_SITE_HEADERS) {
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }] };
      const sent = await fetch(`${url}/message:send`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ message }),
      });
      const { task } = (await sent.json()) as { task: { id: string } };
      await (await fetch(`${url}/v1/tasks/${task.id}:cancel`, { method: "POST", headers })).text();
      const read = await fetch(`${url}/tasks/${task.id}`, { headers: { "a2a-version": "1.0" } });
      const { status } = (await read.json()) as { status: { state: string } };
      if (status.state === "TASK_STATE_CANCELED")
        problems.push(`a web page canceled a task with ${JSON.stringify(headers)}`);
    }
    await server.close();
    return { problems };
  },
});
