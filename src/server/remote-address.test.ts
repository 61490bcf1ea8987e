import { array, assert, integer, property } from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { getAddressHolderKey } from "./remote-address.ts";
import { messageCommandTestAgent, V1_TEST_HEADERS } from "./server.fixture.ts";

describe("the holder key of a remote address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, "unknown"],
  ])("of %s is %s", (address, key) => {
    expect(getAddressHolderKey(address)).toBe(key);
  });

  it("is the same for all addresses of an IPv6 network /64, and differs between networks", () => {
    const group = integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const half = array(group, { minLength: 4, maxLength: 4 }).map((groups) => groups.join(":"));
    assert(
      property(half, half, half, half, (network, otherNetwork, host, otherHost) => {
        const key = getAddressHolderKey(`${network}:${host}`);
        expect(getAddressHolderKey(`${network}:${otherHost}`)).toBe(key);
        if (otherNetwork !== network) expect(getAddressHolderKey(`${otherNetwork}:${host}`)).not.toBe(key);
      }),
    );
  });
});

describe("an `authenticate` function", () => {
  function createRecordingServer(options: ServerOptions = {}): {
    server: Server;
    addresses: (string | undefined)[];
  } {
    const addresses: (string | undefined)[] = [];
    const server = createServer(messageCommandTestAgent, {
      store: "memory",
      observer: false,
      authenticate: ({ remoteAddress }) => {
        addresses.push(remoteAddress);
        return { tenant: "", principal: "ada" };
      },
      ...options,
    });
    onTestFinished(() => server.close());
    return { server, addresses };
  }

  it("receives the address of the client from the Node listener", async () => {
    const { server, addresses } = createRecordingServer();
    const { url } = await server.listen();
    expect((await fetch(`${url}/tasks`, { headers: V1_TEST_HEADERS })).status).toBe(200);
    expect(addresses).toEqual(["127.0.0.1"]);
  });

  it("receives the address of the client on a server with a base path", async () => {
    const { server, addresses } = createRecordingServer({ basePath: "/agents" });
    const request = new Request("http://localhost/agents/tasks", { headers: V1_TEST_HEADERS });
    await server.fetch(request, { remoteAddress: "192.0.2.1" });
    expect(addresses).toEqual(["192.0.2.1"]);
  });

  it.each([
    ["Deno", { remoteAddr: { transport: "tcp", hostname: "192.0.2.1", port: 4000 } }, "192.0.2.1"],
    ["Bun", { requestIP: () => ({ address: "192.0.2.2", family: "IPv4", port: 4000 }) }, "192.0.2.2"],
    ["Bun over a Unix socket", { requestIP: () => null }, undefined],
    ["a host", { remoteAddress: "192.0.2.3" }, "192.0.2.3"],
    ["Next.js", { params: Promise.resolve({}) }, undefined],
    ["no runtime", undefined, undefined],
  ])("receives the address of the client that %s passes to `fetch`", async (_, runtimeInfo, address) => {
    const { server, addresses } = createRecordingServer();
    const request = new Request("http://localhost/tasks", { headers: V1_TEST_HEADERS });
    expect((await server.fetch(request, runtimeInfo)).status).toBe(200);
    expect(addresses).toEqual([address]);
  });
});
