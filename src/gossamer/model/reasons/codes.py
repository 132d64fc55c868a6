"""The closed lists of reasons, one for each decision; each has words in `words/`."""

from enum import StrEnum


class TextCode(StrEnum):
    """What came from elsewhere, and how reasons are put together."""

    TEXT = "text.text"
    BECAUSE = "text.because"
    ALSO = "text.also"


class HoldCode(StrEnum):
    """Why a host, or a URL, waits beyond its turn."""

    POLITENESS = "hold.politeness"
    OWN_TIMES = "hold.own_times"
    SET_ASIDE = "hold.set_aside"
    SHARED = "hold.shared"
    SERVER = "hold.server"
    SERVER_CNAME = "hold.server_cname"
    SERVER_CERTIFICATE = "hold.server_certificate"
    OPERATOR = "hold.operator"
    OPERATOR_FOR = "hold.operator_for"
    IN_SCOPE_AGAIN = "hold.in_scope_again"


class BudgetCode(StrEnum):
    """Which limit parks a host."""

    PAGES_PER_HOST = "budget.pages_per_host"
    BYTES_PER_HOST = "budget.bytes_per_host"
    PAGES_PER_DOMAIN = "budget.pages_per_domain"
    BYTES_PER_DOMAIN = "budget.bytes_per_domain"


class EndCode(StrEnum):
    """Why a crawl ended, or is to end."""

    FINISHED = "end.finished"
    INTERRUPTED = "end.interrupted"
    NO_SERVER = "end.no_server"
    FAILED = "end.failed"
    FENCED = "end.fenced"
    DRAINED = "end.drained"
    FOR_NOW = "end.for_now"
    DISK_FULL = "end.disk_full"
    LEFT = "end.left"
    OVER = "end.over"
    MAX_PAGES = "end.max_pages"
    MAX_BYTES = "end.max_bytes"
    MAX_TIME = "end.max_time"


class RobotsCode(StrEnum):
    """What a robots file, or its lack, means."""

    UNREACHABLE = "robots.unreachable"
    NONE = "robots.none"
    NOWHERE = "robots.nowhere"
    SCHEME = "robots.scheme"
    UNCHANGED = "robots.unchanged"
    HOLD = "robots.hold"
    OPEN = "robots.open"
    CLOSED = "robots.closed"
    DOWN = "robots.down"
    RULES = "robots.rules"
    REDIRECTED = "robots.redirected"
    MOVED = "robots.moved"


class RetryCode(StrEnum):
    """What a visit, or the last of several, came to."""

    RETRY = "retry.retry"
    STATUS = "retry.status"
    CUT = "retry.cut"
    NO_LOCATION = "retry.no_location"
    IN_A_ROW = "retry.in_a_row"
    VISITS = "retry.visits"


class CutCode(StrEnum):
    """What ended a body before its end."""

    LENGTH = "cut.length"
    TIME = "cut.time"
    DISCONNECT = "cut.disconnect"


class NoteCode(StrEnum):
    """What was noticed at a visit that is no fault."""

    NOWHERE = "note.nowhere"
    UNREAD = "note.unread"
    CUT = "note.cut"


class JobCode(StrEnum):
    """Why a job is in its state."""

    PAUSED = "job.paused"
    PAUSED_BY = "job.paused_by"
    BY_HAND = "job.by_hand"
    NO_SEED = "job.no_seed"
    NO_SERVER = "job.no_server"
    MISCONFIGURED = "job.misconfigured"
    GIVEN_UP = "job.given_up"
    NO_ANSWER = "job.no_answer"
    TOO_LARGE = "job.too_large"
    MEMORY_TAKEN = "job.memory_taken"
    QUIET = "job.quiet"
    HOURS = "job.hours"
    RESOURCES = "job.resources"
    MEMORY = "job.memory"
    REGAIN = "job.regain"
    FOUND = "job.found"
    DIED = "job.died"
    KILLED = "job.killed"
    ENDED_WITH = "job.ended_with"
    OUTSIDE = "job.outside"
    DISK = "job.disk"


class WaitCode(StrEnum):
    """What a crawl as a whole waits for."""

    BANDWIDTH = "wait.bandwidth"
    BUSY = "wait.busy"
    NAMES = "wait.names"
    ANSWERS = "wait.answers"
    NEXT_DUE = "wait.next_due"


class FetchCode(StrEnum):
    """What keeps a visit from beginning or from going on, in words of ours."""

    HOST_KEY = "fetch.host_key"
    OTHER_PART = "fetch.other_part"


class LoginCode(StrEnum):
    """Why a log-in is not made, or did not let us in, and what is not visited because of one."""

    PAGE = "login.page"
    LEAVES = "login.leaves"
    ANSWER = "login.answer"
    ROBOTS = "login.robots"
    ROBOTS_UNKNOWN = "login.robots_unknown"
    NOT_HTML = "login.not_html"
    NO_FORM = "login.no_form"
    NO_SUCH_FORM = "login.no_such_form"
    FORMS = "login.forms"
    MANY_FIELDS = "login.many_fields"
    NO_FIELD = "login.no_field"
    ASKS = "login.asks"
    IN_ADDRESS = "login.in_address"
    ELSEWHERE = "login.elsewhere"
    REFUSED = "login.refused"
    STEPS = "login.steps"
    LOST = "login.lost"


class ScopeCode(StrEnum):
    """Why a URL belongs, or does not."""

    ON_HOSTS = "scope.on_hosts"
    OFF_HOSTS = "scope.off_hosts"
    IN_DOMAINS = "scope.in_domains"
    OFF_DOMAINS = "scope.off_domains"
    BELOW_FOLDERS = "scope.below_folders"
    OFF_FOLDERS = "scope.off_folders"
    ANYWHERE = "scope.anywhere"
    REQUISITE = "scope.requisite"
    DEMANDED = "scope.demanded"
    NO_REQUISITES = "scope.no_requisites"
    INCLUDE = "scope.include"
    EXCLUDE = "scope.exclude"
    OWN_RULE = "scope.own_rule"
    OWN_REFUSAL = "scope.own_refusal"
    RAISED = "scope.raised"
    NO_RULE = "scope.no_rule"
    BLOCKED = "scope.blocked"
    URL_LENGTH = "scope.url_length"
    SCHEME = "scope.scheme"
    LOCAL = "scope.local"
    HOPS = "scope.hops"
    REDIRECTS = "scope.redirects"
    DEPTH = "scope.depth"
    ROBOTS_FILE = "scope.robots_file"
    NOFOLLOW = "scope.nofollow"


class TrapCode(StrEnum):
    """Why a URL looks like part of a trap."""

    SEGMENTS = "trap.segments"
    EMBEDDED = "trap.embedded"
    REPEATED = "trap.repeated"
    REPEATED_BLOCK = "trap.repeated_block"
    ESCAPED = "trap.escaped"
    AMPERSANDS = "trap.ampersands"
    PARAMETERS = "trap.parameters"
    SAME_PARAMETERS = "trap.same_parameters"


class SpeculationCode(StrEnum):
    """Why a speculative link is not visited."""

    DOUBTED = "speculation.doubted"
    SPENT = "speculation.spent"
    FORM_SPENT = "speculation.form_spent"
    LINKED = "speculation.linked"
    OFF = "speculation.off"


class MirrorCode(StrEnum):
    """That one of the addresses of a site did not give a page."""

    NEXT = "mirror.next"
    DOWN = "mirror.down"


class TwinCode(StrEnum):
    """That two names show one site, and what follows from it."""

    SITE = "twin.site"
    SKIPPED = "twin.skipped"
    SHOWN = "twin.shown"
    BACK = "twin.back"


class WorthCode(StrEnum):
    """Parts of what a URL is worth."""

    SHARE = "worth.share"
    VOICE = "worth.voice"
    BUCKETS = "worth.buckets"
    EIGHTFOLD = "worth.eightfold"
    TWICE = "worth.twice"
    NO = "worth.no"


class QueryCode(StrEnum):
    """Why a query is refused."""

    LENGTH = "query.length"
    DEPTH = "query.depth"
    PARTS = "query.parts"
    DATE = "query.date"
    PATTERN = "query.pattern"
    NOTHING = "query.nothing"


class ProblemCode(StrEnum):
    """What is wrong with what was asked for."""

    WHOLE = "problem.whole"
    WHOLE_BOUND = "problem.whole_bound"
    NUMBER = "problem.number"
    NUMBER_BOUND = "problem.number_bound"
    BOOLEAN = "problem.boolean"
    LIST = "problem.list"
    TEXTS = "problem.texts"
    TABLE = "problem.table"
    TEXT = "problem.text"
    ONE_OF_NEAR = "problem.one_of_near"
    ONE_OF = "problem.one_of"
    NOT_SETTING_NEAR = "problem.not_setting_near"
    NOT_SETTING = "problem.not_setting"
    NOT_SETTING_SINGLE = "problem.not_setting_single"
    NOT_LIVE = "problem.not_live"
    NOT_MOVED = "problem.not_moved"
    MISSING = "problem.missing"
    TOO_FEW = "problem.too_few"
    TOO_MANY = "problem.too_many"
    DURATION = "problem.duration"
    SIZE = "problem.size"
    BYTES = "problem.bytes"
    EXPRESSION = "problem.expression"
    PLACE = "problem.place"
    PLACE_FORM = "problem.place_form"
    PLACE_TWICE = "problem.place_twice"
    PLACE_ADDRESS = "problem.place_address"
    PLACE_TYPE = "problem.place_type"
    PLACE_TIME = "problem.place_time"
    PLACE_SAME = "problem.place_same"
    PLACE_EVERYWHERE = "problem.place_everywhere"
    PLACE_SECTION = "problem.place_section"
    PLACE_UNKNOWN = "problem.place_unknown"
    PLACE_ONCE = "problem.place_once"
    PLACE_ORIGIN = "problem.place_origin"
    HEADERS_MANY = "problem.headers_many"
    HEADERS_TWICE = "problem.headers_twice"
    HEADER_NAME = "problem.header_name"
    HEADER_VALUE = "problem.header_value"
    HEADER_SETTING = "problem.header_setting"
    HEADER_OURS = "problem.header_ours"
    SCHEME_USER = "problem.scheme_user"
    SCHEME_MISSING = "problem.scheme_missing"
    KEY_ALONE = "problem.key_alone"
    LOGIN_PAGE = "problem.login_page"
    LOGIN_MARK = "problem.login_mark"
    LOGIN_PLACE = "problem.login_place"
    KNOWN_HOST = "problem.known_host"
    KNOWN_URL = "problem.known_url"
    KNOWN_ADDRESS = "problem.known_address"
    KNOWN_ANSWER = "problem.known_answer"
    HOST_AND_PLACE = "problem.host_and_place"
    BLOCK = "problem.block"
    SEED = "problem.seed"
    PRESET = "problem.preset"
    SEED_JSON = "problem.seed_json"
    SEED_NOT_JSON = "problem.seed_not_json"
    SEED_LONG = "problem.seed_long"
    MIRROR_ADDRESS = "problem.mirror_address"
    MIRRORS_FEW = "problem.mirrors_few"
    MIRRORS_OVERLAP = "problem.mirrors_overlap"
    MIRRORS_CHANGED = "problem.mirrors_changed"
    NO_SEEDS = "problem.no_seeds"
    SEED_PASSWORD = "problem.seed_password"  # noqa: S105
    MORE_SEEDS = "problem.more_seeds"
    NO_CHANGES = "problem.no_changes"
    TOML = "problem.toml"
    JOB_NAME = "problem.job_name"
    NAME_TAKEN = "problem.name_taken"
    FOLDER_NOWHERE = "problem.folder_nowhere"
    FOLDER_OUTSIDE = "problem.folder_outside"
    FOLDER_TAKEN = "problem.folder_taken"
    FOLDER_EMPTY = "problem.folder_empty"
    DISK_NOWHERE = "problem.disk_nowhere"
    DISK_CLEARED = "problem.disk_cleared"
    DISK_INSIDE = "problem.disk_inside"
    DISK_UNWRITABLE = "problem.disk_unwritable"
    DISK_LITTLE = "problem.disk_little"
    DISK_MOVES = "problem.disk_moves"
    DISK_ABSENT = "problem.disk_absent"
    DISK_OF_ANOTHER = "problem.disk_of_another"
    UPLOAD_ADDRESS = "problem.upload_address"
    UPLOAD_PASSWORD = "problem.upload_password"  # noqa: S105
    UPLOAD_PACKAGE = "problem.upload_package"
    UPLOAD_UNUSABLE = "problem.upload_unusable"
    UPLOAD_OF_ANOTHER = "problem.upload_of_another"
    UPLOAD_INSIDE = "problem.upload_inside"
    UPLOAD_GONE = "problem.upload_gone"
    CLAIM_HIGH = "problem.claim_high"
    CLAIM_LOW = "problem.claim_low"
    CLAIM_NOTHING = "problem.claim_nothing"
    ZONE = "problem.zone"
    CRON = "problem.cron"
    CRON_NEVER = "problem.cron_never"
    QUIET = "problem.quiet"
    NO_JOB = "problem.no_job"
    NO_URL = "problem.no_url"
    NOTHING_ASKED = "problem.nothing_asked"
    NO_HOST = "problem.no_host"
    NO_BRANCH = "problem.no_branch"
    NO_BRANCH_ON = "problem.no_branch_on"
    NO_CHANGE = "problem.no_change"
    NOT_BEGUN = "problem.not_begun"
    NOT_BEGUN_AT = "problem.not_begun_at"
    BEGIN_FIRST = "problem.begin_first"
    NOT_BLOCKED = "problem.not_blocked"
    NO_AUDIT = "problem.no_audit"
    AUDIT_RUNNING = "problem.audit_running"
    BEING_MADE = "problem.being_made"
    SAME_JOB = "problem.same_job"
    NOT_RUNNING = "problem.not_running"
    NO_ANSWER = "problem.no_answer"
    CLUSTER_DEMAND = "problem.cluster_demand"
    NOT_HELD = "problem.not_held"
    NO_REVISIT = "problem.no_revisit"
    ENDING = "problem.ending"
    NO_SENSE = "problem.no_sense"
    NO_LIMIT = "problem.no_limit"
    RUNS = "problem.runs"
    OTHER_CHANGE = "problem.other_change"
    GRANTED = "problem.granted"
    GRANTED_SPEED = "problem.granted_speed"
    UNDONE = "problem.undone"
    FINAL = "problem.final"
    CHANGED_AGAIN = "problem.changed_again"
    CHANGED_SINCE = "problem.changed_since"
    CURSOR = "problem.cursor"
    OF = "problem.of"
    AND_MORE = "problem.and_more"
    SEVERAL = "problem.several"
