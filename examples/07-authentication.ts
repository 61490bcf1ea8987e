/**
 * Authenticates callers by API key or bearer token. The agent card declares both schemes, so clients know
 * where to send their credentials. Callers cannot see each other's tasks.
 *
 *     node examples/07-authentication.ts
 */
import { agent, connect, createServer } from "colloquy";
import { apiKeys, bearer, generateApiKey } from "colloquy/auth";

const diary = agent({ name: "diary", description: "Stores your notes" }, async function* ({ text, caller }) {
  yield `Noted for ${caller.principal}: ${text}`;
});

// The key is shown once, and the server stores only a digest. For `colloquy serve`, run `colloquy auth
// new-key`.
const { key, storedKey } = generateApiKey("ada");
const token = "an-example-is-no-place-for-a-real-token";

const server = createServer(diary, {
  store: "memory",
  authenticate: [
    apiKeys({ in: "header", name: "X-API-Key", keys: [storedKey] }),
    bearer({ tokens: { [token]: "bob" } }),
  ],
});
const { url } = await server.listen();

const ada = await connect(url, { auth: { apiKey: key } });
const bob = await connect(url, { auth: { bearer: token } });
console.log("Authentication schemes:", Object.keys(ada.card.securitySchemes ?? {}).join(" or "));

const response = await ada.send("a secret");
if (!("task" in response)) throw new Error("Expected a task.");
console.log(response.task.artifacts?.[0]?.parts);

console.log("Bob sees", (await bob.tasks.list()).totalSize, "tasks.");
await bob.tasks.get(response.task.id).catch((error: Error) => console.log(error.message));

const unauthenticatedClient = await connect(url);
await unauthenticatedClient.send("let me in").catch((error: Error) => console.log(error.message));
await server.close();
