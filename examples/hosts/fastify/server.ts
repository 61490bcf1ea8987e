/**
 * Mounts agents in a Fastify app under a path. The agents parse request bodies themselves, so Fastify's
 * parsers are removed in their scope.
 *
 *     npm install --prefix examples/hosts/fastify
 *     npm run -s example examples/hosts/fastify/server.ts
 */
import { agent, createServer } from "colloquy";
import Fastify from "fastify";

const hello = agent({ name: "hello", description: "Greets people" }, async function* ({ text }) {
  yield `Hello, ${text}!`;
});

const agents = createServer({ hello }, { basePath: "/agents" });
const app = Fastify({ forceCloseConnections: true });
app.get("/", () => "The agents are at /agents.");
app.register((scope, _options, done) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
  scope.all("/agents/*", (request, reply) => {
    reply.hijack();
    agents.listener(request.raw, reply.raw);
  });
  done();
});
app.addHook("preClose", () => agents.close());

const origin = await app.listen({ port: Number(process.env["PORT"] ?? 3000) });
console.log(`${origin}/agents`);
