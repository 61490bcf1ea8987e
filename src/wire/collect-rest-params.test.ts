import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import { collectRestParams, matchRoute } from "./v1/binding-dialects.ts";
import { decodeParams } from "./v1/index.ts";

describe("a REST path", () => {
  it.each([
    ["POST", "/message:send", "SendMessage", {}],
    ["POST", "/message:stream", "SendStreamingMessage", {}],
    ["GET", "/tasks/t-1", "GetTask", { id: "t-1" }],
    ["GET", "/tasks", "ListTasks", {}],
    ["POST", "/tasks/t-1:cancel", "CancelTask", { id: "t-1" }],
    ["POST", "/tasks/t-1:subscribe", "SubscribeToTask", { id: "t-1" }],
    ["GET", "/tasks/t-1:subscribe", "SubscribeToTask", { id: "t-1" }],
    ["GET", "/extendedAgentCard", "GetExtendedAgentCard", {}],
    ["POST", "/tasks/t/pushNotificationConfigs", "CreateTaskPushNotificationConfig", { taskId: "t" }],
    ["GET", "/tasks/t/pushNotificationConfigs/c", "GetTaskPushNotificationConfig", { taskId: "t", id: "c" }],
  ])("%s %s is %s [D-02]", (method, path, operation, params) => {
    expect(matchRoute(method, path)).toEqual({ operation, pathParams: params });
    const tenant = { operation, pathParams: { ...params, tenant: "a/b" } };
    expect(matchRoute(method, `/a%2Fb${path}`)).toEqual(tenant);
  });

  it("is percent-decoded after its verb is removed [D-09]", () => {
    expect(matchRoute("GET", "/tasks/a%3Acancel%20b")).toEqual({
      operation: "GetTask",
      pathParams: { id: "a:cancel b" },
    });
    expect(matchRoute("POST", "/tasks/a:b:cancel")).toEqual({
      operation: "CancelTask",
      pathParams: { id: "a:b" },
    });
  });

  it.each([
    "/",
    "",
    "/nothing",
    "/tasks/t:explode",
    "/tasks/",
    "/message",
    "/tasks/%",
    "/a/b/tasks",
    "/message:send/",
  ])("that does not exist has no route: %s [D-09]", (path) => {
    expect(matchRoute("GET", path)).toBeUndefined();
  });

  it("with the wrong method lists the allowed methods [D-09]", () => {
    expect(matchRoute("GET", "/message:send")).toEqual({ allowedMethods: ["POST"] });
    expect(matchRoute("DELETE", "/tasks/t")).toEqual({ allowedMethods: ["GET"] });
    expect(matchRoute("PUT", "/tasks/t/pushNotificationConfigs")).toEqual({
      allowedMethods: ["POST", "GET"],
    });
  });

  it("prefers a route without a tenant to a tenant whose name looks like a path", () => {
    expect(matchRoute("GET", "/tasks/tasks")).toEqual({ operation: "GetTask", pathParams: { id: "tasks" } });
  });
});

function decodeListTasksQuery(query: string): unknown {
  return decodeParams("ListTasks", collectRestParams("ListTasks", {}, new URLSearchParams(query), undefined));
}

describe("the parameters of a REST request", () => {
  const none = new URLSearchParams();

  it("come from the query of a GET [D-02]", () => {
    expect(
      decodeListTasksQuery(
        "pageSize=5&includeArtifacts=true&status=TASK_STATE_WORKING&statusTimestampAfter=2026-01-01T00:00:00Z",
      ),
    ).toEqual({
      pageSize: 5,
      includeArtifacts: true,
      status: "TASK_STATE_WORKING",
      statusTimestampAfter: "2026-01-01T00:00:00.000Z",
    });
    expect(decodeListTasksQuery("A2A-Version=1.0&__proto__=x")).toEqual({});
  });

  it.each([
    "includeArtifacts=TRUE",
    "includeArtifacts=1",
    "pageSize=5.5",
    "pageSize=",
    "pageSize=1&pageSize=2",
  ])("are validated strictly: %s", (query) => {
    expect(() => decodeListTasksQuery(query)).toThrow(A2AError);
  });

  it("come from the body and the path of a POST, whose body may be empty [D-08]", () => {
    for (const body of [undefined, null, {}, { id: "t" }]) {
      expect(collectRestParams("CancelTask", { id: "t", tenant: "acme" }, none, body)).toEqual({
        id: "t",
        tenant: "acme",
      });
    }
    expect(collectRestParams("SendMessage", {}, none, { message: 1 })).toEqual({ message: 1 });
  });

  it("must not contradict each other [D-11]", () => {
    expect(() => collectRestParams("SendMessage", { tenant: "a" }, none, { tenant: "b" })).toThrow(/tenant/);
    expect(() => collectRestParams("CancelTask", { id: "a" }, none, { id: "b" })).toThrow(/id/);
    expect(() => collectRestParams("GetTask", { id: "a" }, new URLSearchParams("id=b"), undefined)).toThrow(
      /id/,
    );
  });

  it("are rejected by the decoder when the body is not an object", () => {
    expect(() => decodeParams("SendMessage", collectRestParams("SendMessage", {}, none, [1]))).toThrow(
      "params: must be an object with named members, not an array",
    );
  });
});
