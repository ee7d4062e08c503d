import type { CriticalCategory } from './critical-categories.ts';
import type { CategoryId } from './taxonomy.ts';

export const ERROR_CLASSES = [
  'rate-limiting',
  'resource-exhaustion',
  'timeout',
  'environment',
  'authentication',
  'formatting',
  'tool-schema',
  'resource-not-found',
  'service-errors',
  'business-refusal',
  'interrupted',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** One kind of error, and how runtimes, services, databases and shells say it. */
export interface ErrorClassRow {
  readonly class: ErrorClass;
  readonly category: CategoryId;
  readonly critical: CriticalCategory;
  /**
   * Who has to act for the next call to work: whoever made the call, somebody outside, or nobody (a rule of the
   * business said no, or somebody stopped the run).
   */
  readonly blame: 'caller' | 'outside' | 'nobody';
  /** Whole names of error types and codes, letters and digits only, lower case, without "Exception" or "Error". */
  readonly types: string;
  /** Parts by which other names of types and codes are told, on the same spelling. */
  readonly typeParts: RegExp;
  readonly http: readonly number[];
  readonly grpc: readonly number[];
  /** Beginnings of SQLSTATE codes; the longest one decides. */
  readonly sqlStates: readonly string[];
  /** Wording, where nothing more precise was said. Every pattern is a plain alternation with bounded repetition. */
  readonly phrases: RegExp;
}

/**
 * The classes in the order in which wording decides: "429 too many requests, service unavailable" is rate limiting.
 * Types are those of the AWS common errors and of DynamoDB, S3, STS, Lambda and Bedrock, of gRPC, Node, Python and
 * Java; SQLSTATE after the PostgreSQL appendix; HTTP after RFC 9110 and 6585. No row leans on one product's prose.
 */
export const ERROR_CLASS_ROWS: readonly ErrorClassRow[] = [
  {
    class: 'interrupted',
    category: 'other',
    critical: 'inconclusive',
    blame: 'nobody',
    types:
      'graphinterrupt nodeinterrupt interrupt humaninterrupt parentcommand keyboardinterrupt operationcanceled cancelled canceled taskcanceled taskcancelled userabort useraborted toolinterrupt',
    typeParts: /^(?:graph|node|human|user)?interrupt(?:ed)?$|^(?:operation|task|request|user)?cancell?ed$/,
    http: [499],
    grpc: [1],
    sqlStates: [],
    phrases:
      /\b(?:GraphInterrupt|NodeInterrupt|HumanInterrupt)\b|\b(?:waiting|paused) for (?:human|user|operator|your) (?:approval|input|confirmation|review)\b/,
  },
  {
    class: 'rate-limiting',
    category: 'execution-error-category-rate-limiting',
    critical: 'system-failure',
    blame: 'outside',
    types:
      'throttling throttled toomanyrequests requestlimitexceeded requestthrottled slowdown provisionedthroughputexceeded limitexceeded quotaexceeded ratelimit ratelimitexceeded ratelimited servicequotaexceeded insufficientquota bandwidthlimitexceeded ec2throttled priorrequestnotcomplete',
    typeParts: /throttl|toomanyrequest|ratelimit|ratelimited|quotaexce|slowdown/,
    http: [429],
    // RESOURCE_EXHAUSTED, which google.rpc.Code maps to HTTP 429.
    grpc: [8],
    sqlStates: [],
    phrases:
      /rate.?(?:limit|exceeded)|too many (?:requests|tokens)|throttl(?:ed|ing)|(?:quota|daily limit|monthly limit) (?:is |was |has been )?(?:exceeded|used up|exhausted|reached)|exceeded (?:your|the) (?:current )?quota|requests per (?:minute|second|hour|day)|request rate is too high|slow down|wait before (?:trying|retrying)/i,
  },
  {
    class: 'resource-exhaustion',
    category: 'execution-error-category-resource-exhaustion',
    critical: 'system-failure',
    blame: 'outside',
    types:
      'memory outofmemory payloadtoolarge requestentitytoolarge entitytoolarge requesttoolarge enospc emfile contextlengthexceeded contextwindowexceeded itemcollectionsizelimitexceeded maxmessagelengthexceeded insufficientcapacity insufficientinstancecapacity stringabovemaxlength',
    typeParts: /outofmemory|toolarge$|contextlength|contextwindow|nospace|diskfull|sizelimit/,
    http: [413, 507],
    grpc: [],
    sqlStates: ['53', '54'],
    phrases:
      /out of memory|\bMemoryError\b|\bOOM(?:Killed)?\b|no space left|stopped at (?:its|the) limit|(?:maximum|max\.?) (?:number of )?(?:steps|turns|iterations) (?:was |were )?(?:reached|exceeded)|(?:queue|buffer|pool) (?:is )?(?:full|exhausted)|(?:disk|volume|storage) (?:is |has run )?(?:full|out of space)|\bENOSPC\b|heap limit|too many open files|\bEMFILE\b|context (?:length|window|size|limit) (?:is )?exceeded|context[_ ]length[_ ]exceeded|exceeds? (?:the |its )?(?:available )?context|maximum context length|(?:input|prompt|request|payload|file|body|message) (?:is |was )?too (?:long|large|big)|request too large|larger than (?:the )?(?:limit|maximum|allowed)|too many total text bytes|exceeds? (?:the )?(?:maximum|max\.?|limit of) (?:allowed )?(?:size|payload|length|\d)|at most \d[\d.,]* ?(?:\w{1,20} )?(?:a|an|per|each) (?:call|request|batch)/i,
  },
  {
    class: 'timeout',
    category: 'execution-error-category-timeout',
    critical: 'system-failure',
    blame: 'outside',
    types:
      'timeout timedout timeoutexpired deadlineexceeded requesttimeout sockettimeout readtimeout connecttimeout gatewaytimeout etimedout esockettimedout modeltimeout querytimeout statementtimeout taskstimedout statestimeout undericonnecttimeout requestexpiredtimeout',
    typeParts: /timeout|timedout|deadline/,
    http: [408, 504, 522, 524, 598],
    grpc: [4],
    sqlStates: ['57014', '55P03', 'HYT'],
    phrases:
      /\btim(?:ed?|ing) ?out\b|\btime-?out\b|Timeout(?:Error|Exception|Expired)|deadline\b[^.\n]{0,30}\bexceeded|\bETIMEDOUT\b|(?:no|without) (?:answer|response|reply) (?:with)?in \d|did not (?:answer|respond|finish|complete)[^.\n]{0,30}\b(?:in time|within)\b|took (?:too long|longer than)/i,
  },
  {
    class: 'environment',
    category: 'execution-error-category-environment',
    critical: 'system-failure',
    blame: 'outside',
    types:
      'modulenotfound import dllnotfound noclassdeffound classnotfound eacces eperm configuration misconfigured',
    typeParts: /modulenotfound|noclassdef|classnotfound|misconfigur|configurationmissing|missingconfig/,
    http: [],
    grpc: [],
    sqlStates: [],
    phrases:
      /ModuleNotFoundError|\bImportError\b|no module named|cannot find (?:module|package)|command not found|^[^\n]{0,80}: not found$|is not recognized as an internal|(?:is )?not installed|environment variable|(?:Errno 13|\bEACCES\b|Operation not permitted)|cannot open shared object|missing configuration|configuration (?:file )?(?:is )?missing|no such (?:command|executable|binary)|executable file not found/im,
  },
  {
    class: 'authentication',
    category: 'execution-error-category-authentication',
    critical: 'guardrail',
    blame: 'outside',
    types:
      'accessdenied accessdeniedforunknown unauthorized unauthorised unauthenticated unauthorizedoperation authfailure forbidden permissiondenied expiredtoken expiredtokenexception tokenexpired sessionexpired requestexpired invalidclienttokenid invalidtoken unrecognizedclient invalidsignature signaturedoesnotmatch incompletesignature missingauthenticationtoken missingauthentication optinrequired notauthorized invalidaccesskeyid invalidapikey authentication authenticationfailed tokenprovider credentialsprovider kmsaccessdenied invalidgrant insufficientscope loginrequired nocredentials credentialsnotfound',
    typeParts:
      /accessdenied|unauthori[sz]ed|unauthenticated|forbidden|permission(?:denied|s?missing)|(?:token|session|credentials?|signature|login|apikey|certificate)(?:expired|invalid|missing|revoked|notvalid)|(?:expired|invalid|missing|revoked|bad)(?:token|session|credentials?|signature|apikey|login)|authentication(?!timeout)|notauthori[sz]ed|invalidgrant/,
    http: [401, 403, 407, 511],
    grpc: [7, 16],
    sqlStates: ['28', '42501'],
    phrases:
      /unauthori[sz]ed|\bforbidden\b|access.?denied|permission.?denied|not (?:authori[sz]ed|permitted to|allowed to)|authentication (?:failed|required|error)|(?:invalid|incorrect|expired|missing|bad|revoked) (?:api.?key|token|credentials?|password|signature|session|security token)|(?:token|session|credentials?|certificate|login|api.?key|licen[cs]e)\b[^.\n]{0,40}\b(?:expired|is invalid|invalid|revoked|required)|not subscribed to|(?:log ?in|sign ?in) (?:is )?(?:required|first|again)|credentials? (?:not|could not|expired)|one-time (?:code|password)[^.\n]{0,60}\brequired|(?:lacks?|missing|requires?|without) (?:the )?(?:\S{1,40} )?(?:permission|scope|role|privilege)\b/i,
  },
  {
    class: 'formatting',
    category: 'execution-error-category-formatting',
    critical: 'invalid-invocation',
    blame: 'caller',
    types:
      'jsondecode syntax indentation parse parseerror malformedjson malformedxml malformedrequest sqlsyntax unicodedecode xmlparse yaml toml invalidjson malformedquerystring serialization deserialization',
    typeParts: /syntax|malformed|jsondecode|jsonparse|^parse|parsefailed|unparsable|deserializ/,
    http: [],
    grpc: [],
    sqlStates: ['42601'],
    phrases:
      /JSONDecodeError|\bSyntaxError\b|\bIndentationError\b|\b(?:parse|parsing) error|(?:invalid|malformed|unexpected end of|not valid) (?:JSON|XML|YAML|CSV|HTML)|unexpected (?:token|end of (?:input|file))|syntax error|unterminated|unbalanced|malformed|\b(?:is|was) (?:not closed|never closed|unclosed)|(?:cannot|could not|failed to) (?:be )?parsed?\b/i,
  },
  {
    class: 'tool-schema',
    category: 'execution-error-category-tool-schema',
    critical: 'invalid-invocation',
    blame: 'caller',
    types:
      'validation validationfailed invalidparameter invalidparametervalue invalidparametercombination missingparameter missingaction invalidaction invalidargument illegalargument invalidinput invalidrequest badrequest unprocessableentity unsupportedmediatype methodnotallowed notacceptable outofrange unimplemented zod type value key index attribute input inputvalidation invalidtype schemavalidation paramvalidation invalidqueryparameter undefinedcolumn undefinedtable undefinedfunction invalidparams methodnotfound',
    typeParts:
      /validation|^invalid|^bad(?:request|parameter|argument|input|value|format|date)|^missing|^unsupported|^unknown(?:parameter|argument|field|column|tool|function)|outofrange|invalid(?:argument|parameter|value|input|format|date|type|range)|notallowedvalue|wrong(?:type|format|unit)|(?:type|format|schema|unit)(?:mismatch|invalid)|required(?:field|parameter)?$/,
    http: [400, 405, 406, 411, 414, 415, 422, 431],
    grpc: [3, 11, 12],
    sqlStates: ['22', '42', '23502', '23514', '07', '26'],
    phrases:
      /validation ?(?:error|exception|failed)|missing \d{0,3} ?(?:required|positional)|required (?:argument|parameter|field|property)|(?:field|argument|parameter|property|value) (?:is |was )?(?:required|missing)|\b\w{1,40} is (?:a )?required\b|unexpected (?:keyword )?(?:argument|parameter)|invalid (?:argument|parameter|input|value|type|request|date|format|option|syntax)|does not match (?:the )?(?:schema|pattern|format)|must (?:match|be (?:one of|a|an|less|greater|at (?:most|least)|between|in the form))\b|should be (?:a|an|one of)\b|unknown (?:argument|parameter|field|tool|function|option|column)|(?:expected|not) (?:a |an )?(?:valid )?(?:integer|number|string|boolean|date|YYYY-MM-DD|ISO.?8601|array|object)\b|is not (?:a valid|one of|YYYY)|\bZodError\b|InputValidation|column "?[\w.]{1,60}"? does not exist|no such column|(?:relation|function) "?[\w.]{1,60}"? does not exist|media type|(?:tool|function) \S{1,60} (?:is )?(?:not known|unknown|not found|does not exist)|string to replace not found|unsupported (?:type|format|value|unit|operation)/i,
  },
  {
    class: 'resource-not-found',
    category: 'execution-error-category-resource-not-found',
    critical: 'invalid-invocation',
    blame: 'caller',
    types:
      'notfound resourcenotfound nosuchkey nosuchbucket nosuchupload nosuchentity nosuchfile filenotfound enoent doesnotexist recordnotfound objectnotfound gone dbinstancenotfound nosuchhostedzone modelnotfound',
    typeParts: /notfound|^nosuch|doesnotexist|^unknown(?:id|user|order|customer|resource)|notexist/,
    http: [404, 410],
    grpc: [5],
    sqlStates: ['02'],
    phrases:
      /\bnot[ _]found\b|NotFound|\bno such\b|\b(?:does not|doesn['’]t|do not|did not) exist|could not be found|cannot be found|cannot find|can(?:'|’)t find|\bENOENT\b|unknown (?:id|user|order|resource|customer|account|key)|^no (?!more|longer|further|need)[\w-]{1,30} (?:named|called|with|by|for|['"`#(\w-]*\d|['"`])|(?:there is|we have|have) no \w{1,30} (?:with|named|called|by)/im,
  },
  {
    class: 'service-errors',
    category: 'execution-error-category-service-errors',
    critical: 'system-failure',
    blame: 'outside',
    types:
      'internalerror internal internalserver internalfailure internalserviceerror serviceunavailable serviceunavailableexception servicefailure service unavailable badgateway dataloss econnrefused econnreset econnaborted enotfound eaiagain epipe ehostunreach connection connectionerror network networkerror transactioninprogress modelerror modelnotready modelstream overloaded dependencyfailed faileddependency unknownerror serverselection operationalerror maintenance',
    typeParts:
      /internal(?:server|service|failure|error)?|unavailable|badgateway|^econn|connection(?:refused|reset|closed|failed|aborted)|servererror|serverfault|upstream|network|overloaded|maintenance|modelnotready/,
    http: [424, 500, 501, 502, 503, 505, 520, 521, 523, 525, 526, 529, 530],
    grpc: [2, 13, 14, 15],
    sqlStates: ['08', '40', '57', '58', 'XX', 'HY'],
    phrases:
      /internal (?:server )?error|(?:service|server|system|backend|engine|host) (?:is |was )?(?:temporarily |currently )?(?:unavailable|down|starting|restarting|offline|overloaded|not (?:available|reachable|ready))|bad gateway|gateway did not (?:answer|respond)|connection (?:refused|reset|aborted|error|closed)|socket hang up|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bENOTFOUND\b|name resolution|overloaded|upstream|ServiceException|server error|ConnectionError|network (?:error|unreachable)|no healthy|(?:try|retry) (?:again )?(?:later|shortly|in a (?:moment|minute|while|few)|in \d)|under maintenance|temporarily (?:unavailable|down|offline)|could not (?:be reached|reach|connect)/i,
  },
  {
    class: 'business-refusal',
    category: 'other',
    critical: 'inconclusive',
    blame: 'nobody',
    types:
      'conditionalcheckfailed transactioncanceled transactionconflict conflict alreadyexists resourceinuse resourceconflict bucketalreadyexists bucketnotempty entityalreadyexists duplicate duplicatekey preconditionfailed failedprecondition aborted locked optimisticlock invalidstate notallowed notpermitted uniqueviolation integrity limitreached paymentrequired deleteconflict',
    typeParts:
      /conflict|alreadyexist|already|duplicate|precondition|conditionalcheck|inuse$|locked|notallowed|notpermitted|ineligible|noteligible|policyviolation|businessrule|(?:limit|capacity|maximum)reached|overlimit|uniqueviolation|taken$|occupied|soldout|outofstock|closed$/,
    http: [402, 409, 412, 423, 428, 451],
    grpc: [6, 9, 10],
    sqlStates: ['23', '44', 'P0001'],
    phrases:
      /\balready\b|\bstale\b|\boutdated version\b|version (?:mismatch|conflict)|\b(?:is|was|are|were) (?:taken|full|closed|locked|reserved|occupied|booked|sold out|in use)\b|reserved by|no longer (?:available|possible|open)|\bconflict\b|duplicate (?:key|entry)|not (?:eligible|available|possible|refundable|in stock)|(?:over|above|exceeds?) (?:the |your )?(?:\w{1,20} )?limit|(?:policy|rule)\b[^.\n]{0,60}\b(?:forbids|requires|prohibits|does not allow)|requires? (?:approval|a supervisor|a manager)|sold out|out of stock|outside (?:the )?(?:window|opening|allowed|business)|not (?:allowed|permitted)\b/i,
  },
];

const ROWS: ReadonlyMap<ErrorClass, ErrorClassRow> = new Map(ERROR_CLASS_ROWS.map((row) => [row.class, row]));

export function errorClassRow(id: ErrorClass): ErrorClassRow {
  const row = ROWS.get(id);
  if (row === undefined) throw new Error(`no error class ${id}`);
  return row;
}

const BY_TYPE: ReadonlyMap<string, ErrorClass> = new Map(
  ERROR_CLASS_ROWS.flatMap((row) => row.types.split(' ').map((name) => [name, row.class] as const)),
);

/** `com.amazonaws.dynamodb.v20120810#ThrottlingException` and `THROTTLING` are one name. */
function bareType(name: string): string {
  const last =
    name
      .slice(0, 200)
      .split(/[#\s]/)
      .findLast((part) => part !== '') ?? name;
  const dotted = last.split('.').at(-1) ?? last;
  return dotted
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/(?<=.)(?:exception|error|fault|err)$/, '');
}

/** The class of an error's type or code by its whole name; `null` for one that is not listed. */
export function classOfType(name: string): ErrorClass | null {
  return BY_TYPE.get(bareType(name)) ?? null;
}

/** The class of an error's type or code by parts of its name, e.g. `INVALID_DATE`. */
export function classOfTypeParts(name: string): ErrorClass | null {
  const bare = bareType(name);
  return ERROR_CLASS_ROWS.find((row) => row.typeParts.test(bare))?.class ?? null;
}

/** The class of an HTTP status from 400 on; `null` for others. */
export function classOfHttp(status: number): ErrorClass | null {
  if (status < 400 || status > 599) return null;
  const listed = ERROR_CLASS_ROWS.find((row) => row.http.includes(status));
  return listed?.class ?? (status >= 500 ? 'service-errors' : null);
}

/** A gRPC status code, 1 to 16. */
export function classOfGrpc(code: number): ErrorClass | null {
  return ERROR_CLASS_ROWS.find((row) => row.grpc.includes(code))?.class ?? null;
}

export function classOfSqlState(state: string): ErrorClass | null {
  let best: { readonly length: number; readonly class: ErrorClass } | null = null;
  for (const row of ERROR_CLASS_ROWS) {
    for (const start of row.sqlStates) {
      if (state.startsWith(start) && start.length > (best?.length ?? 0)) {
        best = { length: start.length, class: row.class };
      }
    }
  }
  return best?.class ?? null;
}

/** JSON-RPC 2.0: the reserved codes. */
export function classOfJsonRpc(code: number): ErrorClass | null {
  if (code === -32700) return 'formatting';
  if (code >= -32602 && code <= -32600) return 'tool-schema';
  return code <= -32000 && code >= -32768 ? 'service-errors' : null;
}

/** The class that a wording tells, the most telling first; `null` when it tells none. */
export function classOfPhrases(text: string): ErrorClass | null {
  return ERROR_CLASS_ROWS.find((row) => row.phrases.test(text))?.class ?? null;
}
