import { lackedOf } from '../../contract/permissions.ts';
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { errorBody, errorStatus } from '../../contract/errors.ts';
import { mediaTypes, type Access, type Route } from '../../contract/route.ts';
import { errorsOf } from './errors-of.ts';

type Json = Record<string, unknown>;
type Schema = z.ZodType;

/** With the headers that calls of a kind have in common. */
const description = `Software licenses: staff console and desktop API.

A change takes the header \`Idempotency-Key\` (1 to 200 characters): within a day, the same request with the same key is carried out once; its repetition gets the same answer, with \`Idempotent-Replayed: true\`. Sign-in, validation, enrollment, update reports, and the files, chunks and completions of uploads ignore it. Where body or query have \`updatedAt\`, \`If-Match\` with the \`ETag\` of the record does the same. 429 and 503 have \`Retry-After\`, in seconds.

Feeds and files take the machine and its version also as \`X-Machine-Id\` and \`X-App-Version\`, and validations with a machine token \`X-Machine-Sequence\`, a number that grows with each call.`;

/** The OpenAPI 3.1 document of the contract: schemas come from zod, access and errors from the routes. */
export function openApi(
  contract: Record<string, Record<string, Route>>,
  version: string,
  sessionCookie: string,
): Json {
  const components: Record<string, Json> = {};
  const toJson = (schema: Schema, io: 'input' | 'output') => jsonSchema(schema, io, components);
  toJson(errorBody, 'output');
  const paths: Record<string, Record<string, Json>> = {};
  for (const [feature, routes] of Object.entries(contract)) {
    for (const [name, route] of Object.entries(routes)) {
      const path = (paths[route.path] ??= {});
      path[route.method.toLowerCase()] = operation(route, feature, name, toJson);
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Lanyard', version, description },
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        machineToken: { type: 'apiKey', in: 'header', name: 'X-Machine-Token' },
      },
    },
  };
}

type ToJson = (schema: Schema, io: 'input' | 'output') => Json;

function operation(route: Route, feature: string, name: string, toJson: ToJson): Json {
  return {
    operationId: `${feature}.${name}`,
    tags: [feature],
    summary: route.summary,
    description: accessSentence(route.access),
    security: security(route.access),
    parameters: [...parameters('path', route.params, toJson), ...parameters('query', route.query, toJson)],
    ...requestBody(route, toJson),
    responses: { ...success(route, toJson), ...failures(route) },
  };
}

function requestBody({ body, bodyKind, bodyOptional }: Route, toJson: ToJson): Json {
  const content = body
    ? { 'application/json': { schema: toJson(body, 'input') } }
    : bodyKind && { [mediaTypes[bodyKind]]: {} };
  return content ? { requestBody: { required: bodyOptional !== true, content } } : {};
}

function accessSentence(access: Access): string {
  if (access.kind === 'public') return 'No sign-in needed.';
  if (access.kind === 'signedIn') return 'Any signed-in user.';
  const staff = `Staff with ${lackedOf([], access.needs).join(' and ')}`;
  if (!access.apiKey) return `${staff}.`;
  const machine = access.apiKey === 'releases' ? '' : ', or the token of a machine, for itself';
  return `${staff}, or an API key with the scope ${access.apiKey}${machine}.`;
}

function security(access: Access): Json[] {
  if (access.kind === 'public') return [];
  const staff: Json[] = [{ session: [] }, { bearer: [] }];
  if (access.kind !== 'staff' || !access.apiKey) return staff;
  return [...staff, { apiKey: [] }, ...(access.apiKey === 'releases' ? [] : [{ machineToken: [] }])];
}

function parameters(where: 'path' | 'query', schema: Schema | undefined, toJson: ToJson): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJson(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }));
}

function success(route: Route, toJson: ToJson): Json {
  if (route.raw) {
    const statuses = Object.entries(route.raw).map(([status, mediaType]) => [
      status,
      { description: STATUS_CODES[status], ...(mediaType ? { content: { [mediaType]: {} } } : {}) },
    ]);
    return Object.fromEntries(statuses) as Json;
  }
  if (route.csv)
    return { 200: { description: 'The file', content: { 'text/csv': { schema: { type: 'string' } } } } };
  if (route.file) {
    const content = { 'application/json': { schema: toJson(route.file, 'output') } };
    return { 200: { description: 'The file', content } };
  }
  if (!route.answer) return { 204: { description: 'Done' } };
  const properties: Json = { success: { const: true }, data: toJson(route.answer, 'output') };
  if (route.meta) properties.meta = toJson(route.meta, 'output');
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return { [route.status ?? 200]: { description: 'Success', content: { 'application/json': { schema } } } };
}

function failures(route: Route): Json {
  const codes = errorsOf(route);
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: codes.filter((code) => errorStatus[code] === status).join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

/** Schemas with an id move to `components` and are referenced. */
function jsonSchema(schema: Schema, io: 'input' | 'output', components: Record<string, Json>): Json {
  const json = JSON.stringify(
    z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }),
  );
  const {
    $defs,
    $schema: _,
    id,
    ...definition
  } = JSON.parse(json.replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/')) as Json & {
    $defs?: Record<string, Json>;
    id?: string;
  };
  Object.assign(components, $defs);
  if (id === undefined) return definition;
  components[id] = definition;
  return { $ref: `#/components/schemas/${id}` };
}
