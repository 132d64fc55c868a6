"""What the report says, each phrase in English and Chinese."""

# ruff: noqa: RUF001 - Chinese has a punctuation of its own

Pair = tuple[str, str]

PHRASES: dict[str, Pair] = {
    # The head
    "title": ("Crawl report: {name}", "抓取报告：{name}"),
    "from to": ("{first} to {last} UTC", "{first} 至 {last} UTC"),
    "made": ("Made {made} UTC by Gossamer {version}", "由 Gossamer {version} 于 {made} UTC 生成"),
    "seeds": ("Seeds", "种子"),
    "more seeds": ("and {count} more", "另有 {count} 个"),
    "ended": ("ended: {reason}", "已结束：{reason}"),
    "running": ("running, or ended without a word", "正在运行，或未留下结束原因"),
    "contents": ("Contents", "目录"),
    "no data": ("nothing to show", "没有数据"),
    "none": ("None.", "无。"),
    "per second": ("{amount}/s", "{amount}/秒"),
    "other": ("other", "其他"),
    # Tiles
    "pages": ("Pages", "页面"),
    "received": ("Received", "接收"),
    "hosts": ("Hosts", "主机"),
    "time": ("Time", "用时"),
    "speed": ("Pages per second", "每秒页面数"),
    "left": ("URLs left", "剩余 URL"),
    "failed visits": ("Visits without an answer", "没有应答的访问"),
    "duplicates": ("Duplicates", "重复内容"),
    "of visits": ("{share} of {visits} {visits|visit|visits}", "占 {visits} 次访问的 {share}"),
    "archived": ("{size} in the archive", "归档 {size}"),
    "known": ("of {known} known", "共知 {known} 个"),
    "parked": ("{count} parked", "{count} 个已搁置"),
    "of pages": ("{share} of the pages", "占页面的 {share}"),
    "time crawling": ("spent crawling", "实际抓取时间"),
    "on average": ("on average", "平均"),
    # Sections
    "over time": ("Over time", "随时间变化"),
    "over time lead": (
        "Each point stands for {width}. Times are UTC. A time in which the crawl was stopped is empty.",
        "每点代表 {width}。时间为 UTC。抓取停止的时段显示为空白。",
    ),
    "pages per second": ("Pages per second", "每秒页面数"),
    "bytes per second": ("Bytes per second", "每秒字节数"),
    "visits by outcome": ("Visits per second by outcome", "每秒访问数（按结果）"),
    "errors over time": ("Errors per second", "每秒错误数"),
    "answers": ("Answers", "响应"),
    "answers lead": (
        "{visits} {visits|visit|visits} in the log, robots files and repetitions included.",
        "日志中共有 {visits} 次访问，包括 robots 文件和重试。",
    ),
    "visits by class": ("Visits by outcome", "按结果划分的访问"),
    "status codes": ("Status codes", "状态码"),
    "what became": ("What became of the URLs", "URL 的去向"),
    "content": ("Content", "内容"),
    "content lead": (
        "Pages: answers with status 200 that were kept, robots files left out.",
        "页面：状态为 200 且被保留的响应，不含 robots 文件。",
    ),
    "types by pages": ("Media types by pages", "媒体类型（按页面数）"),
    "types by bytes": ("Media types by bytes", "媒体类型（按字节数）"),
    "sizes": ("Sizes of answers", "响应大小"),
    "sizes note": (
        "Half are at most {median}, nine of ten {tenths}, the largest is {largest}.",
        "一半不超过 {median}，九成不超过 {tenths}，最大为 {largest}。",
    ),
    "at least": ("{edge} and more", "{edge} 以上"),
    "languages": ("Languages of HTML pages", "HTML 页面的语言"),
    "languages note": (
        "As the pages declare; {unknown} declare none.",
        "以页面声明为准；{unknown} 个未声明。",
    ),
    "languages estimated": (
        "Estimated from {read} of about {pages} pages; {unknown} declare none.",
        "由约 {pages} 个页面中的 {read} 个估计；{unknown} 个未声明。",
    ),
    "depth": ("Pages by depth", "按深度划分的页面"),
    "depth note": ("Links followed from a seed.", "从种子起跟随的链接数。"),
    "found by": ("How pages were found", "页面的发现方式"),
    "largest": ("Largest answers", "最大的响应"),
    "hosts lead": (
        "{hosts} {hosts|host|hosts}.",
        "共 {hosts} 个主机。",
    ),
    "delays lead": (
        "{delays} {delays|asks|ask} for a delay in {delays|its|their} robots files.",
        "其中 {delays} 个在 robots 文件中要求延迟。",
    ),
    "hosts by state": ("Hosts by state", "按状态划分的主机"),
    "robots by state": ("Robots files of origins", "各来源的 robots 文件"),
    "most pages": ("Hosts with the most pages", "页面最多的主机"),
    "pages per host": ("Hosts by their number of pages", "按页面数划分的主机"),
    "without pages": ("{count} {count|host has|hosts have} none.", "{count} 个主机没有页面。"),
    "parked hosts": ("Parked hosts", "已搁置的主机"),
    "response times": ("Response times", "响应时间"),
    "times note": (
        "Half within {median}, nine of ten within {tenths}, 99 of 100 within {hundredth}; the longest took "
        "{largest}.",
        "一半在 {median} 内，九成在 {tenths} 内，99% 在 {hundredth} 内；最长 {largest}。",
    ),
    "slowest hosts": ("Slowest hosts", "最慢的主机"),
    "slowest hosts note": (
        "By the mean time of a response, from three responses on.",
        "按平均响应时间，至少三次响应。",
    ),
    "slowest": ("Slowest answers", "最慢的响应"),
    "politeness": ("Politeness kept", "礼貌性"),
    "politeness kept": (
        "Kept: {gaps} {gaps|gap|gaps} between visits on {hosts} {hosts|host|hosts} were measured, "
        "and none was "
        "shorter than the rest that was due.",
        "已遵守：在 {hosts} 个主机上测得 {gaps} 个访问间隔，没有一个短于应有的间歇。",
    ),
    "politeness broken": (
        "{short} of {gaps} gaps were shorter than the rest that was due by the settings as they are now, on "
        "{hosts} {hosts|host|hosts}.",
        "按现有设置，{gaps} 个间隔中有 {short} 个短于应有的间歇，涉及 {hosts} 个主机。",
    ),
    "politeness nothing": (
        "No host was visited twice, so there is no gap to measure.",
        "没有主机被访问两次，因此没有间隔可测。",
    ),
    "politeness how": (
        "A gap goes from the end of a visit to the beginning of the next visit to that host, as "
        "the log tells "
        "them, to within {precision}. The rest that is due is at least {min_delay} and {factor} times the "
        "response time, at most {max_delay}.",
        "间隔从一次访问结束算起，到该主机下一次访问开始为止，以日志为准，误差不超过 {precision}。"
        "应有的间歇至少为 {min_delay}，并为响应时间的 {factor} 倍，但倍数部分不超过 {max_delay}。",
    ),
    "politeness off": (
        "The delay is set to 0, so no rest is due but what robots files ask for.",
        "延迟设为 0，因此除 robots 文件的要求外不需要间歇。",
    ),
    "politeness unmeasured": (
        "Of {count} hosts visited long ago some gaps were not measured, all longer than {above}.",
        "有 {count} 个很久以前访问过的主机的部分间隔未测量，均长于 {above}。",
    ),
    "crawl delay kept": (
        "No gap between pages was shorter than the delay that robots files ask for.",
        "没有页面间隔短于 robots 文件要求的延迟。",
    ),
    "crawl delay broken": (
        "On {count} {count|host|hosts} a gap between pages was shorter than what robots files ask for now; "
        "they may have asked for less then.",
        "在 {count} 个主机上，有页面间隔短于 robots 文件现在的要求；当时的要求可能较低。",
    ),
    "smallest gaps": ("Smallest gap of each host", "各主机的最小间隔"),
    "tightest": ("Closest to the rest that was due", "最接近应有间歇的主机"),
    "hurried": ("Sooner than robots files ask for", "早于 robots 文件要求的主机"),
    "failures": ("Failures", "失败"),
    "failures lead": (
        "Visits without a usable answer, error statuses, and what was refused without a visit. "
        "To have no robots file is no failure.",
        "没有可用响应的访问、错误状态，以及未经访问即被拒绝的 URL。没有 robots 文件不算失败。",
    ),
    "examples": ("Examples", "示例"),
    "failures by kind": ("Failures by kind", "按种类划分的失败"),
    "most errors": ("Hosts with the most errors", "错误最多的主机"),
    "duplicates lead": (
        "{visits} {visits|answer|answers} had a payload that was archived before, {bytes} in all; "
        "the archive "
        "keeps a reference instead.",
        "{visits} 个响应的内容此前已归档，共 {bytes}；归档中只保留引用。",
    ),
    "no duplicates": ("No payload came twice.", "没有重复的内容。"),
    "repeated": ("Met again most often", "重复次数最多"),
    "traps": ("Traps", "陷阱"),
    "traps lead": (
        "{aside} {aside|branch|branches} of sites set aside as endless, {released} released, {open} others. "
        "{urls} {urls|URL|URLs} set aside, not lost.",
        "搁置 {aside} 个没有尽头的站点分支，放行 {released} 个，其他 {open} 个。搁置 {urls} 个 URL，未丢失。",
    ),
    "names": ("Names", "域名解析"),
    "names lead": (
        "{asked} {asked|question|questions} for names, {hits} answered from the cache; {queries} "
        "queries sent.",
        "共 {asked} 次域名查询，{hits} 次由缓存回答；发出 {queries} 个请求。",
    ),
    "name times": ("Time to resolve a name", "解析用时"),
    "name failures": ("Failed resolutions by kind", "按种类划分的解析失败"),
    "slowest names": ("Slowest names", "最慢的域名"),
    "failing names": ("Names that failed most often", "失败最多的域名"),
    "settings": ("Settings", "设置"),
    "about": ("How this was made", "关于本报告"),
    "about text": (
        "Sums, hosts, names, languages and traps come from the state of the crawl; answers, sizes, times, "
        "gaps and duplicates from its log. Of a running crawl both go on while they are read, so they may "
        "differ a little. Quantiles are read from a histogram and may be 5% off. Text from crawled pages is "
        "shown with invisible and steering characters spelled out.",
        "总数、主机、域名、语言和陷阱来自抓取的状态；响应、大小、时间、间隔和重复内容来自日志。"
        "对正在运行的抓取，二者在读取时仍在变化，可能略有差异。分位数由直方图得出，误差不超过约 5%。"
        "来自网页的文本中，不可见字符和控制方向的字符以转义形式显示。",
    ),
    "damaged": (
        "{count} {count|line|lines} of the log could not be read.",
        "日志中有 {count} 行无法读取。",
    ),
    # Heads of tables
    "host": ("Host", "主机"),
    "state": ("State", "状态"),
    "bytes": ("Bytes", "字节"),
    "visits": ("Visits", "访问"),
    "queued": ("Queued", "排队"),
    "reason": ("Reason", "原因"),
    "kind": ("Kind", "种类"),
    "count": ("Count", "次数"),
    "share": ("Share", "比例"),
    "example": ("First example", "首个示例"),
    "detail": ("Detail", "细节"),
    "url": ("URL", "URL"),
    "page title": ("Title", "标题"),
    "type": ("Type", "类型"),
    "size": ("Size", "大小"),
    "status": ("Status", "状态码"),
    "status code": ("status {code}", "状态码 {code}"),
    "mean": ("Mean", "平均"),
    "longest": ("Longest", "最长"),
    "errors": ("Errors", "错误"),
    "gap": ("Gap", "间隔"),
    "due": ("Due", "应有"),
    "copies": ("Copies", "副本"),
    "branch": ("Branch", "分支"),
    "fetched": ("Fetched", "已抓取"),
    "brought": ("Brought something", "有收获"),
    "turned away": ("Turned away", "被拒"),
    "evidence": ("Evidence", "证据"),
    "name": ("Name", "域名"),
    "waiting": ("Waiting", "等待"),
    # Settings
    "order": ("Order", "次序"),
    "scope": ("Scope", "范围"),
    "workers": ("Visits at once", "并发访问"),
    "delays": ("Rest of a host", "主机间歇"),
    "delays value": (
        "{min_delay} or more, {factor} x response time up to {max_delay}",
        "至少 {min_delay}，响应时间的 {factor} 倍，上限 {max_delay}",
    ),
    "visits at once": ("Visits to a host at once", "同一主机并发访问"),
    "queue key": ("What rests together", "间歇单位"),
    "robots": ("Robots files", "Robots 文件"),
    "obeyed": ("obeyed", "遵守"),
    "ignored": ("ignored", "忽略"),
}

TERMS: dict[str, Pair] = {
    # Outcomes of visits
    "ok": ("2xx success", "2xx 成功"),
    "moved": ("3xx redirect", "3xx 重定向"),
    "client_errors": ("4xx client error", "4xx 客户端错误"),
    "server_errors": ("5xx server error", "5xx 服务器错误"),
    "failed": ("no answer", "无响应"),
    "refused": ("not asked", "未访问"),
    # Dispositions
    "done": ("done", "完成"),
    "retry": ("to be tried again", "待重试"),
    "dropped": ("given up", "放弃"),
    "parked": ("parked", "搁置"),
    # States of hosts and robots files
    "ready": ("ready", "就绪"),
    "resting": ("resting", "间歇中"),
    "waiting": ("waiting", "等待中"),
    "empty": ("nothing left", "无剩余"),
    "rules": ("rules", "有规则"),
    "open": ("none, all allowed", "无文件，全部允许"),
    "hold": ("unreachable, on hold", "无法获取，暂缓"),
    "pending": ("redirected, pending", "已重定向，待定"),
    "closed": ("closed", "关闭"),
    # Kinds of links
    "seed": ("seed", "种子"),
    "navigation": ("link", "链接"),
    "requisite": ("requisite", "页面资源"),
    "canonical": ("canonical link", "规范链接"),
    "alternate": ("alternate", "备用版本"),
    "redirect": ("redirect", "重定向"),
    "sitemap": ("sitemap", "站点地图"),
    "robots": ("robots file", "robots 文件"),
    "folder": ("folder above", "上级目录"),
    # Faults
    "name_not_found": ("name not found", "域名不存在"),
    "name_failed": ("name servers failed", "域名服务器失败"),
    "name_deferred": ("name taken for missing", "域名视为不存在"),
    "address_forbidden": ("address forbidden", "地址被禁止"),
    "connect": ("no connection", "无法连接"),
    "connect_timeout": ("connection timed out", "连接超时"),
    "tls": ("TLS failed", "TLS 失败"),
    "proxy": ("proxy failed", "代理失败"),
    "timeout": ("timed out", "超时"),
    "too_slow": ("too slow", "过慢"),
    "reset": ("connection ended early", "连接提前中断"),
    "protocol": ("protocol broken", "协议错误"),
    "head_too_large": ("head too large", "头部过大"),
    "decoding": ("content does not decode", "内容无法解码"),
    "unsupported": ("scheme not supported", "协议不支持"),
    # Refusals
    "refused: robots": ("refused: robots file", "拒绝：robots 文件"),
    "refused: scope": ("refused: out of scope", "拒绝：超出范围"),
    "refused: depth": ("refused: too deep", "拒绝：过深"),
    "refused: budget": ("refused: budget spent", "拒绝：预算用尽"),
    "refused: directive": ("refused: nofollow", "拒绝：nofollow"),
    "refused: too_long": ("refused: URL too long", "拒绝：URL 过长"),
    "refused: hops": ("refused: too many redirects", "拒绝：重定向过多"),
    "refused: trap": ("refused: trap", "拒绝：陷阱"),
    "refused: unsupported": ("refused: not supported", "拒绝：不支持"),
    "refused: plugin": ("refused: plug-in", "拒绝：插件"),
    # States of patterns
    "aside": ("set aside", "搁置"),
    "released": ("released", "放行"),
    # Why a crawl ended
    "finished": ("finished, no URL left", "已完成，无剩余 URL"),
    "finished for now": ("finished for now", "暂时完成"),
    "interrupted": ("interrupted", "被中断"),
    "unreachable": ("unreachable", "没有服务器应答"),
}

TONGUES: dict[str, Pair] = {
    "en": ("English", "英语"),
    "zh": ("Chinese", "中文"),
    "de": ("German", "德语"),
    "fr": ("French", "法语"),
    "es": ("Spanish", "西班牙语"),
    "ru": ("Russian", "俄语"),
    "ja": ("Japanese", "日语"),
    "ko": ("Korean", "韩语"),
    "pt": ("Portuguese", "葡萄牙语"),
    "it": ("Italian", "意大利语"),
    "nl": ("Dutch", "荷兰语"),
    "pl": ("Polish", "波兰语"),
    "tr": ("Turkish", "土耳其语"),
    "ar": ("Arabic", "阿拉伯语"),
    "fa": ("Persian", "波斯语"),
    "he": ("Hebrew", "希伯来语"),
    "hi": ("Hindi", "印地语"),
    "id": ("Indonesian", "印尼语"),
    "vi": ("Vietnamese", "越南语"),
    "th": ("Thai", "泰语"),
    "uk": ("Ukrainian", "乌克兰语"),
    "cs": ("Czech", "捷克语"),
    "sv": ("Swedish", "瑞典语"),
    "da": ("Danish", "丹麦语"),
    "fi": ("Finnish", "芬兰语"),
    "no": ("Norwegian", "挪威语"),
    "nb": ("Norwegian (Bokmål)", "挪威语（书面）"),
    "hu": ("Hungarian", "匈牙利语"),
    "ro": ("Romanian", "罗马尼亚语"),
    "el": ("Greek", "希腊语"),
    "bg": ("Bulgarian", "保加利亚语"),
    "ca": ("Catalan", "加泰罗尼亚语"),
}
"""Names of languages by their tags."""
