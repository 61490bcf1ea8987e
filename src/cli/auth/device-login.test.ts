import { describe, expect, it } from "vitest";
import { type DeviceCodePrompt, type DeviceLoginOptions, loginWithDeviceCode } from "./device-login.ts";
import {
  FakeAuthorizationServer,
  refuse,
  type TestEndpointResponse,
} from "./fake-authorization-server.fixture.ts";

interface DeviceLoginRun {
  readonly server: FakeAuthorizationServer;
  readonly waits: number[];
  readonly prompts: DeviceCodePrompt[];
  readonly options: DeviceLoginOptions;
}

/** Prepares a login with a clock that only waits advance. `code` replaces members of the code response. */
async function prepareLogin(answers: TestEndpointResponse[], code: object = {}): Promise<DeviceLoginRun> {
  const server = await FakeAuthorizationServer.start();
  const json = {
    device_code: "device-secret",
    user_code: "ABCD-EFGH",
    verification_uri: "https://id.example.com/device",
    expires_in: 600,
    ...code,
  };
  server.scriptedResponses.set("/device", [{ json }]).set("/token", answers);
  const waits: number[] = [];
  const prompts: DeviceCodePrompt[] = [];
  let now = 0;
  const options: DeviceLoginOptions = {
    fetch,
    deviceUrl: `${server.url}/device`,
    tokenEndpoint: { url: `${server.url}/token`, secretLocation: "header" },
    client: { id: "cli" },
    scopes: ["use", "read"],
    signal: new AbortController().signal,
    onPrompt: (prompt) => prompts.push(prompt),
    clock: {
      now: () => now,
      sleep: async (ms) => {
        waits.push(ms);
        now += ms;
      },
    },
  };
  return { server, waits, prompts, options };
}

const PENDING = refuse("authorization_pending");

describe("a login with a device code", () => {
  it("polls at the interval of the server, and slows down when told [AUTH_005]", async () => {
    const answers = [PENDING, refuse("slow_down"), PENDING, { status: 503 }, PENDING];
    const { server, waits, prompts, options } = await prepareLogin(answers, { interval: 3 });
    const { accessToken, refreshToken } = await loginWithDeviceCode(options);
    expect(server.accepts(`Bearer ${accessToken}`)).toBe(true);
    expect(refreshToken).toMatch(/^refresh-/);
    expect(waits).toEqual([3_000, 3_000, 8_000, 8_000, 16_000, 16_000]);
    expect(prompts).toMatchObject([{ userCode: "ABCD-EFGH", url: "https://id.example.com/device" }]);
    expect(server.forms[0]).toEqual({ path: "/device", form: { client_id: "cli", scope: "use read" } });
    expect(server.forms[1]?.form).toEqual({
      client_id: "cli",
      device_code: "device-secret",
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    });
  });

  it("polls every 5 seconds by default, and never more often than every second after the first poll [AUTH_005]", async () => {
    const standard = await prepareLogin([PENDING]);
    await loginWithDeviceCode(standard.options);
    expect(standard.waits).toEqual([5_000, 5_000]);
    const hasty = await prepareLogin([PENDING, PENDING], { interval: 0 });
    await loginWithDeviceCode(hasty.options);
    expect(hasty.waits).toEqual([0, 1_000, 1_000]);
    const wrong = await prepareLogin([], { interval: "soon" });
    await loginWithDeviceCode(wrong.options);
    expect(wrong.waits).toEqual([5_000]);
  });

  it.each([
    ["expired_token", "The code has expired."],
    ["access_denied", "The login was denied."],
    ["invalid_client", "invalid_client"],
  ])("ends with %s [AUTH_005]", async (error, message) => {
    const { options, server } = await prepareLogin([PENDING, refuse(error)]);
    await expect(loginWithDeviceCode(options)).rejects.toMatchObject({
      code: "A2ACLI_ERR_AUTH_FAILED",
      message,
    });
    expect(server.grants).toHaveLength(2);
  });

  it("ends when the code has expired, whatever the server answers [AUTH_005]", async () => {
    const { options, waits } = await prepareLogin(
      Array.from({ length: 9 }, () => PENDING),
      { expires_in: 12 },
    );
    await expect(loginWithDeviceCode(options)).rejects.toThrow("The code has expired.");
    expect(waits).toEqual([5_000, 5_000, 2_000]);
    const endless = await prepareLogin([PENDING], { interval: 1e9 });
    await expect(loginWithDeviceCode(endless.options)).rejects.toThrow("The code has expired.");
    expect(endless.waits).toEqual([600_000]);
  });

  it("stops at Ctrl-C", async () => {
    const { options } = await prepareLogin([PENDING]);
    const controller = new AbortController();
    const onPrompt = (): void => controller.abort(new Error("interrupted"));
    await expect(loginWithDeviceCode({ ...options, signal: controller.signal, onPrompt })).rejects.toThrow(
      "interrupted",
    );
  });

  it.each([
    ["a page with another scheme", { verification_uri: "javascript:alert(1)" }],
    ["a page without TLS", { verification_uri: "http://id.example.com/device" }],
    ["no device code", { device_code: 7 }],
    ["a code of endless length", { user_code: "A".repeat(1_000) }],
    ["no lifetime", { expires_in: "never" }],
  ])("rejects %s", async (_, code) => {
    const { options, prompts } = await prepareLogin([], code);
    await expect(loginWithDeviceCode(options)).rejects.toThrow(/invalid code|does not use HTTPS/);
    expect(prompts).toEqual([]);
  });

  it("ignores an insecure page with the code", async () => {
    const { options, prompts } = await prepareLogin([], { verification_uri_complete: "javascript:alert(1)" });
    await loginWithDeviceCode(options);
    expect(prompts).toMatchObject([{ urlWithCode: undefined }]);
  });

  it("follows no redirect of the token endpoint", async () => {
    const { options } = await prepareLogin([
      { status: 307, headers: { location: "https://evil.example/token" } },
    ]);
    await expect(loginWithDeviceCode(options)).rejects.toThrow("redirects to https://evil.example/token");
  });

  it("has no secret in the message of a refusal that repeats the request", async () => {
    const { options } = await prepareLogin([
      refuse("invalid_grant", "device-secret is unknown, so is s3cret"),
    ]);
    const client = { id: "cli", secret: "s3cret" };
    await expect(loginWithDeviceCode({ ...options, client })).rejects.toThrow(
      "invalid_grant: *** is unknown, so is ***",
    );
  });
});
