PRAGMA user_version = 3;
CREATE TABLE adk_event ( seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, id TEXT NOT NULL, timestamp REAL NOT NULL, json TEXT NOT NULL, UNIQUE (session, id) );
CREATE TABLE adk_session ( key INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, updated REAL NOT NULL, UNIQUE (app, user, id) );
CREATE TABLE adk_state ( app TEXT NOT NULL, level TEXT NOT NULL, user TEXT NOT NULL, session INTEGER NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (app, level, user, session, name) ) WITHOUT ROWID;
CREATE TABLE log ( task INTEGER NOT NULL, seq INTEGER NOT NULL, lines TEXT NOT NULL, PRIMARY KEY (task, seq) );
CREATE TABLE message ( scope INTEGER NOT NULL, message_id TEXT NOT NULL, task INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (scope, message_id) ) WITHOUT ROWID;
CREATE TABLE push ( key INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, id TEXT NOT NULL, config TEXT NOT NULL, version TEXT NOT NULL, delivered INTEGER NOT NULL, owing INTEGER NOT NULL, failing_since INTEGER, dead_at INTEGER, dead_reason TEXT, UNIQUE (task, id) );
CREATE TABLE scope ( key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL, UNIQUE (tenant, principal, agent) );
CREATE TABLE snapshot ( task INTEGER PRIMARY KEY, seq INTEGER NOT NULL, json TEXT NOT NULL );
CREATE TABLE task ( key INTEGER PRIMARY KEY, scope INTEGER NOT NULL, task_id TEXT NOT NULL, context_id TEXT NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL, timestamp TEXT NOT NULL, UNIQUE (scope, task_id) );
CREATE TABLE turn ( task INTEGER PRIMARY KEY, json TEXT NOT NULL );
CREATE INDEX adk_event_order ON adk_event (session);
CREATE INDEX push_dead ON push (key) WHERE dead_at IS NOT NULL;
CREATE INDEX push_owing ON push (key) WHERE owing = 1;
CREATE INDEX task_context ON task (scope, context_id);
CREATE INDEX task_list ON task (scope, timestamp, task_id, state);
CREATE INDEX task_unfinished ON task (key) WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING');
INSERT INTO scope VALUES (1, '', '', 'counter-file');
INSERT INTO scope VALUES (2, '', '', 'forecast-file');
INSERT INTO scope VALUES (3, '', '', 'swapped');
INSERT INTO scope VALUES (4, '', '', 'agent');
INSERT INTO task VALUES (1, 1, '01a2049d-ee76-717d-927a-55c2ae0b3cb5', 'context-counter-file', 5, 'TASK_STATE_COMPLETED', '2026-11-22T18:56:28.817Z');
INSERT INTO task VALUES (2, 2, '01a2049d-eec0-7099-96d6-5a398f72f23a', 'context-forecast-file', 3, 'TASK_STATE_COMPLETED', '2026-11-22T18:56:28.876Z');
INSERT INTO task VALUES (3, 3, '01a2049d-eeea-75a9-a38f-c59920ed6657', 'context-swapped', 3, 'TASK_STATE_COMPLETED', '2026-11-22T18:56:28.907Z');
INSERT INTO task VALUES (4, 4, '01a2049d-ef3f-7577-b138-452cb0d5129a', 'context-single', 3, 'TASK_STATE_COMPLETED', '2026-11-22T18:56:28.993Z');
INSERT INTO log VALUES (1, 5, '{"task":{"id":"01a2049d-ee76-717d-927a-55c2ae0b3cb5","contextId":"context-counter-file","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-11-22T18:56:28.792Z"},"history":[{"messageId":"message-counter-file","role":"ROLE_USER","parts":[{"text":"Hello"}],"contextId":"context-counter-file","taskId":"01a2049d-ee76-717d-927a-55c2ae0b3cb5"}]}}
{"statusUpdate":{"taskId":"01a2049d-ee76-717d-927a-55c2ae0b3cb5","contextId":"context-counter-file","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-22T18:56:28.800Z"},"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","https://google.github.io/adk-docs/a2a/a2a-extension/":true}}}
{"artifactUpdate":{"taskId":"01a2049d-ee76-717d-927a-55c2ae0b3cb5","contextId":"context-counter-file","artifact":{"artifactId":"9a70a679-808e-483f-b468-e9c70098f4f3","parts":[{"text":"1 before"}],"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","adk_invocation_id":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","adk_author":"counter"}},"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","adk_invocation_id":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","adk_author":"counter"}}}
{"artifactUpdate":{"taskId":"01a2049d-ee76-717d-927a-55c2ae0b3cb5","contextId":"context-counter-file","artifact":{"artifactId":"9a70a679-808e-483f-b468-e9c70098f4f3","parts":[{"text":"1 before you"}],"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","adk_invocation_id":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","adk_author":"counter","adk_usage_metadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4}}},"lastChunk":true,"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","adk_invocation_id":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","adk_author":"counter","adk_usage_metadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4}}}}
{"statusUpdate":{"taskId":"01a2049d-ee76-717d-927a-55c2ae0b3cb5","contextId":"context-counter-file","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-22T18:56:28.817Z"},"metadata":{"adk_app_name":"counter-file","adk_user_id":"A2A_USER_context-counter-file","adk_session_id":"context-counter-file","https://google.github.io/adk-docs/a2a/a2a-extension/":true}}}');
INSERT INTO log VALUES (2, 3, '{"task":{"id":"01a2049d-eec0-7099-96d6-5a398f72f23a","contextId":"context-forecast-file","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-11-22T18:56:28.864Z"},"history":[{"messageId":"message-forecast-file","role":"ROLE_USER","parts":[{"text":"Hello"}],"contextId":"context-forecast-file","taskId":"01a2049d-eec0-7099-96d6-5a398f72f23a"}]}}
{"artifactUpdate":{"taskId":"01a2049d-eec0-7099-96d6-5a398f72f23a","contextId":"context-forecast-file","artifact":{"artifactId":"answer","parts":[{"text":"1 Hello"}]},"lastChunk":true}}
{"statusUpdate":{"taskId":"01a2049d-eec0-7099-96d6-5a398f72f23a","contextId":"context-forecast-file","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-22T18:56:28.876Z"}}}');
INSERT INTO log VALUES (3, 3, '{"task":{"id":"01a2049d-eeea-75a9-a38f-c59920ed6657","contextId":"context-swapped","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-11-22T18:56:28.906Z"},"history":[{"messageId":"message-swapped","role":"ROLE_USER","parts":[{"text":"Hello"}],"contextId":"context-swapped","taskId":"01a2049d-eeea-75a9-a38f-c59920ed6657"}]}}
{"artifactUpdate":{"taskId":"01a2049d-eeea-75a9-a38f-c59920ed6657","contextId":"context-swapped","artifact":{"artifactId":"answer","parts":[{"text":"swapped"}]},"lastChunk":true}}
{"statusUpdate":{"taskId":"01a2049d-eeea-75a9-a38f-c59920ed6657","contextId":"context-swapped","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-22T18:56:28.907Z"}}}');
INSERT INTO log VALUES (4, 3, '{"task":{"id":"01a2049d-ef3f-7577-b138-452cb0d5129a","contextId":"context-single","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-11-22T18:56:28.991Z"},"history":[{"messageId":"message-single","role":"ROLE_USER","parts":[{"text":"Hello"}],"contextId":"context-single","taskId":"01a2049d-ef3f-7577-b138-452cb0d5129a"}]}}
{"artifactUpdate":{"taskId":"01a2049d-ef3f-7577-b138-452cb0d5129a","contextId":"context-single","artifact":{"artifactId":"answer","parts":[{"text":"1 Hello"}]},"lastChunk":true}}
{"statusUpdate":{"taskId":"01a2049d-ef3f-7577-b138-452cb0d5129a","contextId":"context-single","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-22T18:56:28.993Z"}}}');
INSERT INTO message VALUES (1, 'message-counter-file', 1, 1);
INSERT INTO message VALUES (2, 'message-forecast-file', 2, 1);
INSERT INTO message VALUES (3, 'message-swapped', 3, 1);
INSERT INTO message VALUES (4, 'message-single', 4, 1);
INSERT INTO adk_session VALUES (1, 'counter-file', 'A2A_USER_context-counter-file', 'context-counter-file', 1795373788815);
INSERT INTO adk_event VALUES (1, 1, '6RwXWR9R', 1795373788802, '{"invocationId":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","author":"user","actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{},"requestedToolConfirmations":{}},"content":{"role":"user","parts":[{"text":"Hello"}]},"id":"6RwXWR9R","longRunningToolIds":[],"timestamp":1795373788802}');
INSERT INTO adk_event VALUES (2, 1, 'gVHRGz8w', 1795373788815, '{"invocationId":"e-7ea8d1f3-d24b-420e-aa64-f8155550f0ed","author":"counter","id":"gVHRGz8w","actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{},"requestedToolConfirmations":{}},"longRunningToolIds":[],"timestamp":1795373788815,"content":{"role":"model","parts":[{"text":"1 before you"}]},"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4}}');
