package extratools

import (
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/rank/tfidf"
)

// alikeWeight is the weight of a query word's synonym.
const alikeWeight = 0.3

// synonyms returns synonyms of query words that are common in tool names.
func synonyms(query string) string {
	return each(query, func(term string) string {
		if term[0] >= utf8.RuneSelf {
			return ""
		}
		return synonymsOf(term)
	})
}

// inEnglish returns the English translation of Chinese words in a query.
func inEnglish(query string) string {
	return each(query, func(term string) string {
		if term[0] < utf8.RuneSelf {
			return ""
		}
		return english(term)
	})
}

// each joins the results of f for the terms of a query.
func each(query string, f func(term string) string) string {
	var b strings.Builder
	for _, term := range tfidf.Terms(query) {
		if s := f(term); s != "" {
			b.WriteString(s)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// synonymsOf returns synonyms of a term that is a common tool verb or abbreviation.
func synonymsOf(term string) string {
	switch term {
	case "creat", "add", "new", "mak", "insert":
		return "create add new insert"
	case "delet", "remov", "drop", "eras":
		return "delete remove drop"
	case "updat", "edit", "modify", "chang", "set":
		return "update edit modify change"
	case "get", "read", "fetch", "retriev", "show", "view", "load", "see":
		return "get read fetch retrieve"
	case "list", "enumerat", "brows":
		return "list get"
	case "find", "search", "look", "lookup", "locat":
		return "find search"
	case "run", "execut", "exec", "start", "trigger", "launch":
		return "run execute start"
	case "send", "post", "writ", "publish":
		return "send post write"
	case "open", "visit", "go":
		return "open navigate"
	case "stop", "cancel", "end", "kill", "clos":
		return "stop cancel close"
	case "directory", "folder", "dir":
		return "directory folder"
	case "repo":
		return "repository"
	case "pr":
		return "pull request"
	case "db":
		return "database"
	case "doc":
		return "documentation docs"
	case "document":
		return "documentation"
	case "k8":
		return "kubernetes kubectl"
	case "mail":
		return "email"
	case "email":
		return "mail"
	case "pictur", "photo", "img":
		return "image"
	case "website", "site", "webpag":
		return "web page site"
	case "js":
		return "javascript"
	case "org":
		return "organization"
	case "config":
		return "configuration"
	}
	return ""
}

// english returns the English translation of a pair of Chinese characters that is a common word
// about tools.
func english(pair string) string {
	switch pair {
	case "创建", "新建", "建立", "新增", "添加":
		return "create add"
	case "删除", "移除":
		return "delete remove"
	case "更新", "修改", "编辑":
		return "update edit"
	case "查询":
		return "query search"
	case "搜索", "查找", "寻找":
		return "search find"
	case "列出", "列表":
		return "list"
	case "获取", "读取", "查看", "显示":
		return "get read"
	case "写入", "保存":
		return "write save"
	case "发送", "发布":
		return "send post"
	case "运行", "执行", "启动":
		return "run execute"
	case "停止", "取消", "关闭":
		return "stop cancel close"
	case "打开", "访问":
		return "open navigate"
	case "合并":
		return "merge"
	case "提交":
		return "commit"
	case "分支":
		return "branch"
	case "仓库":
		return "repository"
	case "评论":
		return "comment"
	case "回复":
		return "reply"
	case "文件":
		return "file"
	case "目录":
		return "directory"
	case "移动":
		return "move"
	case "复制":
		return "copy"
	case "下载":
		return "download"
	case "上传":
		return "upload"
	case "消息":
		return "message"
	case "频道":
		return "channel"
	case "用户":
		return "user"
	case "项目":
		return "project"
	case "任务":
		return "task"
	case "错误":
		return "error"
	case "日志":
		return "log"
	case "测试":
		return "test"
	case "部署":
		return "deploy deployment"
	case "数据":
		return "data"
	case "据库":
		return "database"
	case "集合":
		return "collection"
	case "文档":
		return "document documentation"
	case "索引":
		return "index"
	case "页面", "网页":
		return "page web"
	case "浏览":
		return "browser"
	case "点击":
		return "click"
	case "截图":
		return "screenshot"
	case "图片", "图像":
		return "image"
	case "表单":
		return "form"
	case "地图":
		return "map"
	case "路线":
		return "directions route"
	case "地址":
		return "address"
	case "邮件":
		return "email mail"
	case "日历":
		return "calendar"
	case "定时":
		return "schedule"
	case "客户":
		return "customer"
	case "退款":
		return "refund"
	case "支付", "付款":
		return "payment"
	case "发票":
		return "invoice"
	case "订阅":
		return "subscription"
	case "价格":
		return "price"
	case "命令":
		return "command"
	case "容器":
		return "container"
	case "集群":
		return "cluster"
	case "网络":
		return "network"
	case "请求":
		return "request"
	case "团队":
		return "team"
	case "组织":
		return "organization"
	case "记忆":
		return "memory"
	}
	return ""
}
