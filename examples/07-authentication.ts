/**
 * A server that wants to know who asks: whoever has an API key, or a token of this company's. The card says so, a client
 * finds there where its credentials go, and nobody sees the tasks of somebody else.
 *
 *     node examples/07-authentication.ts
 */
import { agent, connect, createServer } from "colloquy";
import { apiKeys, bearer, generateApiKey } from "colloquy/auth";

const diary = agent(
  { name: "diary", description: "Keeps what you tell it" },
  async function* ({ text, caller }) {
    yield `Noted for ${caller.principal}: ${text}`;
  },
);

// A key is shown once; what a server keeps of it is a digest. `colloquy auth new-key` does the same for `serve`.
const { key, storedKey: stored } = generateApiKey("ada");
const token = "an-example-is-no-place-for-a-real-token";

const server = createServer(diary, {
  store: "memory",
  authenticate: [
    apiKeys({ in: "header", name: "X-API-Key", keys: [stored] }),
    bearer({ tokens: { [token]: "bob" } }),
  ],
});
const { url } = await server.listen();

const ada = await connect(url, { auth: { apiKey: key } });
const bob = await connect(url, { auth: { bearer: token } });
console.log("The card asks for:", Object.keys(ada.card.securitySchemes ?? {}).join(" or "));

const response = await ada.send("a secret");
if (!("task" in response)) throw new Error("The diary answers with tasks.");
console.log(response.task.artifacts?.[0]?.parts);

console.log("Bob sees", (await bob.tasks.list()).totalSize, "tasks.");
await bob.tasks.get(response.task.id).catch((error: Error) => console.log(error.message));

const unauthenticatedClient = await connect(url);
await unauthenticatedClient.send("let me in").catch((error: Error) => console.log(error.message));
await server.close();
