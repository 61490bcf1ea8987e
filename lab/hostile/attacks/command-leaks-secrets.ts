import { command } from "../../../src/agents/adapters/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const SECRET = "secret-of-the-server";
const PROGRAM = `
  process.stdout.write(JSON.stringify(process.env));
  console.error("${SECRET}" + "-on-stderr");
  process.exitCode = 1;`;

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "a command prints its environment, an id with a path, and secrets on stderr",
  run: async () => {
    process.env["COLLOQUY_ATTACKED_SECRET"] = SECRET;
    const agent = command([process.execPath, "-e", PROGRAM], { name: "leak" });
    const server = createServer(agent, { store: "memory", observer: false });
    const message = {
      messageId: "m",
      contextId: "../../etc/$(id)",
      role: "ROLE_USER",
      parts: [{ text: "hi" }],
    };
    const response = await server.fetch(
      new Request("http://localhost/message:send", {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ message }),
      }),
    );
    const { task } = (await response.json()) as { task: { artifacts?: object[]; status: object } };
    const problems: string[] = [];
    const output = JSON.stringify(task.artifacts);
    if (!output.includes("A2A_TASK_ID")) problems.push("the command printed no environment");
    if (output.includes(SECRET)) problems.push("the command inherited a secret of the server");
    if (output.includes("$(id)")) problems.push("the command received an unsafe id in its environment");
    if (JSON.stringify(task.status).includes("on-stderr")) problems.push("the caller received stderr");
    await server.close();
    return { problems };
  },
});
