import { createServer, type AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import {
  startTestPostgres,
  type TestPostgresServer,
} from "../../src/stores/postgres/postgres-server.fixture.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Port that replies to each connection with the URL of a PostgreSQL server, or with the reason for its absence. */
    readonly sharedPostgresPort: number;
  }
}

/** The reply to a test that asks for the shared server. */
export type SharedPostgresReply = { readonly url: string } | { readonly reason: string };

/** Starts one PostgreSQL server for all tests of a run, as soon as the first test asks for the server. */
export default async function provideSharedPostgres(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<TestPostgresServer> | undefined;
  const listener = createServer((socket) => {
    starting ??= startTestPostgres();
    const reply: Promise<SharedPostgresReply> = starting.then(
      ({ url }) => ({ url }),
      (error: unknown) => ({ reason: String(error) }),
    );
    void reply.then((json) => socket.end(JSON.stringify(json)));
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  project.provide("sharedPostgresPort", (listener.address() as AddressInfo).port);
  return async () => {
    listener.close();
    await (await starting?.catch(() => undefined))?.remove();
  };
}
