import { describe, expect, it } from "vitest";
import { decodeCard, decodeResult } from "./index.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };

describe("an agent's answer", () => {
  it("may omit the members that proto3 omits", () => {
    expect(decodeResult("ListTasks", {})).toEqual({
      tasks: [],
      nextPageToken: "",
      pageSize: 0,
      totalSize: 0,
    });
    expect(decodeResult("GetTask", { id: "t", status: { state: 2 } })).toEqual({ ...task, contextId: "" });
  });

  it("may contain unknown states, which decode to unspecified, and unknown roles, which decode to the agent", () => {
    const message = { messageId: "m", role: "ROLE_MODERATOR", parts: [{ text: "x" }] };
    for (const state of ["TASK_STATE_UNSPECIFIED", "TASK_STATE_PAUSED", 99]) {
      expect(decodeResult("GetTask", { ...task, status: { state, message } })).toEqual({
        ...task,
        status: { state: "TASK_STATE_UNSPECIFIED", message: { ...message, role: "ROLE_AGENT" } },
      });
    }
  });

  it("may have times without an offset, which count as UTC, because FastA2A omits the offset", () => {
    const decodeTime = (timestamp: string): unknown =>
      decodeResult("GetTask", { ...task, status: { ...task.status, timestamp } });
    const utc = { ...task, status: { ...task.status, timestamp: "2026-01-31T12:00:00.123Z" } };
    expect(decodeTime("2026-01-31T12:00:00.123456")).toEqual(utc);
    expect(() => decodeTime("2026-01-31T25:00:00")).toThrow("must be a time");
  });

  it("may have a part of an unknown kind", () => {
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ hologram: "…" }, { text: "x" }] };
    expect(decodeResult("SendMessage", { message })).toEqual({
      message: { ...message, parts: [{}, { text: "x" }] },
    });
  });

  it("is rejected when it is unusable", () => {
    expect(() => decodeResult("GetTask", null)).toThrow(/must be an object/);
    expect(() => decodeResult("GetTask", { status: task.status })).toThrow("id is required");
    expect(() => decodeResult("SendMessage", {})).toThrow("exactly one of task, message");
    expect(() => decodeResult("SubscribeToTask", { task, message: {} })).toThrow("has both task and message");
  });
});

describe("an agent card", () => {
  it("may have scopes as a list, because cards of a2a-go have such lists", () => {
    const securityRequirements = [{ schemes: { oauth: ["read"], token: { list: [] } } }];
    expect(decodeCard({ name: "x", securityRequirements }).securityRequirements).toEqual([
      { schemes: { oauth: { list: ["read"] }, token: { list: [] } } },
    ]);
    expect(() => decodeCard({ name: "x", securityRequirements }, "none")).toThrow(
      "securityRequirements[0].schemes.oauth",
    );
  });

  it("is decoded even if most members are missing [A-02]", () => {
    expect(decodeCard({ name: "x" })).toEqual({
      name: "x",
      description: "",
      supportedInterfaces: [],
      version: "",
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });

  it("keeps security schemes, explicit false, and params unchanged [A-10]", () => {
    const card = {
      name: "x",
      description: "d",
      supportedInterfaces: [{ url: "u", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      version: "1",
      capabilities: { streaming: false, extensions: [{ uri: "urn:e", params: { a: [null, ""] } }] },
      securitySchemes: {
        key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
        sso: {
          oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "t", scopes: { read: "r" } } } },
        },
        tls: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [{ schemes: { key: { list: [] }, sso: { list: ["read"] } } }],
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "S", description: "does", tags: ["t"] }],
    };
    expect(decodeCard(JSON.parse(JSON.stringify(card)))).toEqual(card);
  });
});
