import Fastify from "fastify";
import { defineHostFrameworkContract } from "../../../test/interop/host-framework.contract.ts";

/** The setup from `examples/hosts/fastify/server.ts`. */
defineHostFrameworkContract("Fastify", async (server) => {
  const app = Fastify({ forceCloseConnections: true });
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
    scope.all("/agents/*", (request, reply) => {
      reply.hijack();
      server.listener(request.raw, reply.raw);
    });
    done();
  });
  return { origin: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() };
});
