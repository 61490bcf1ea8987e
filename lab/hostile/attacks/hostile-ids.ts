import { createServer } from "../../../src/server/index.ts";
import { ATTACKED_AGENTS } from "../attacked-server.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const HOSTILE_IDS = ["a".repeat(100_000), "\u001b[2J", "line\nline", "\u202etxt.exe"];

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "ids that are long or contain control characters, and a JSON-RPC id that each event would repeat",
  run: async () => {
    const server = createServer(ATTACKED_AGENTS.echo, { store: "memory", observer: false });
    const call = async (rpcId: unknown, message: object): Promise<string> => {
      const response = await server.fetch(
        new Request("http://localhost/", {
          method: "POST",
          headers: { "content-type": "application/json", "a2a-version": "1.0" },
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: rpcId,
            method: "SendStreamingMessage",
            params: {
              message: {
                messageId: crypto.randomUUID(),
                role: "ROLE_USER",
                parts: [{ text: "x" }],
                ...message,
              },
            },
          }),
        }),
      );
      return await response.text();
    };
    const problems: string[] = [];
    for (const id of HOSTILE_IDS)
      for (const member of ["messageId", "contextId"])
        if ((await call(1, { [member]: id })).includes("TASK_STATE_COMPLETED"))
          problems.push(`the server accepted the ${member} ${JSON.stringify(id.slice(0, 20))}`);
    const reply = await call("i".repeat(1_000_000), {});
    if (reply.length > 100_000)
      problems.push(`the server repeated an id of 1 MB in ${reply.length} characters`);
    await server.close();
    return { figures: { replyChars: reply.length }, problems };
  },
});
